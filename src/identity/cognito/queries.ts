import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

export interface SrpAccount {
  /** Null when no account has the address. */
  readonly sub: string | null
  /** Whether it may sign in, by a password that has a verifier. */
  readonly hasSrp: boolean
  /** The verifier, or what was to stand for it. */
  readonly sealedSrp: Buffer
}

/** One row, and the same way to it, whether the address has an account and the account a verifier or not. */
export function selectSrpAccount(
  tx: SiteTx,
  { userPoolId, email }: { readonly userPoolId: string; readonly email: string },
  instead: { readonly sub: string; readonly sealedSrp: Buffer },
): Promise<SrpAccount> {
  const hasSrp = sql<boolean>`("user".status = 'ACTIVE' and password.sealed_srp is not null) is true`
  return tx.db
    .selectFrom(sql<{ email: string }>`(select ${email}::text as email)`.as('asked'))
    .leftJoin('pool_user as user', (join) =>
      join
        .on('user.site_id', '=', tx.siteId)
        .on('user.user_pool_id', '=', userPoolId)
        .onRef('user.email', '=', 'asked.email'),
    )
    .leftJoin('user_password as password', (join) =>
      join
        .on('password.site_id', '=', tx.siteId)
        .on('password.user_pool_id', '=', userPoolId)
        .on('password.sub', '=', sql<string>`coalesce("user".sub, ${instead.sub})`),
    )
    .select([
      'user.sub',
      hasSrp.as('hasSrp'),
      sql<Buffer>`case when ${hasSrp} then password.sealed_srp else ${instead.sealedSrp}::bytea end`.as(
        'sealedSrp',
      ),
    ])
    .executeTakeFirstOrThrow()
}
