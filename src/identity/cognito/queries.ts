import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

export interface SrpAccount {
  readonly sub: string
  /** Null when it has no password, or none with a verifier, or may not sign in yet. */
  readonly sealedSrp: Buffer | null
}

export function selectSrpAccount(
  tx: SiteTx,
  userPoolId: string,
  email: string,
): Promise<SrpAccount | undefined> {
  return tx.db
    .selectFrom('pool_user as user')
    .leftJoin('user_password as password', (join) =>
      join
        .onRef('password.site_id', '=', 'user.site_id')
        .onRef('password.user_pool_id', '=', 'user.user_pool_id')
        .onRef('password.sub', '=', 'user.sub'),
    )
    .select([
      'user.sub',
      sql<Buffer | null>`case "user".status when 'ACTIVE' then password.sealed_srp end`.as(
        'sealedSrp',
      ),
    ])
    .where('user.site_id', '=', tx.siteId)
    .where('user.user_pool_id', '=', userPoolId)
    .where('user.email', '=', email)
    .executeTakeFirst()
}

/** False when it has been used. */
export async function insertUsedChallenge(
  tx: SiteTx,
  challenge: { readonly challengeId: Buffer; readonly expiresAt: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx.db
    .insertInto('used_srp_challenge')
    .values({
      site_id: tx.siteId,
      challenge_id: challenge.challengeId,
      expires_at: challenge.expiresAt,
    })
    .onConflict((on) => on.columns(['site_id', 'challenge_id']).doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}
