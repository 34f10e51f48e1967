import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

/** What a password at an address could belong to. */
export interface SrpAccount {
  readonly kind: 'account' | 'sign-up'
  readonly sub: string
  readonly sealedSrp: Buffer | null
}

export interface SrpPlace {
  readonly userPoolId: string
  readonly email: string
  /** From where somebody asks. */
  readonly network: string
}

/**
 * The account with that address, else of the sign-ups that wait for it the newest that came from the same network, else the
 * newest: as a sign-in with the password itself has it.
 */
export function selectSrpAccount(
  tx: SiteTx,
  { userPoolId, email, network }: SrpPlace,
  now: Date,
): Promise<SrpAccount | undefined> {
  const accounts = tx.db
    .selectFrom('pool_user as user')
    .leftJoin('user_password as password', (join) =>
      join
        .onRef('password.site_id', '=', 'user.site_id')
        .onRef('password.user_pool_id', '=', 'user.user_pool_id')
        .onRef('password.sub', '=', 'user.sub'),
    )
    .select([
      sql<'account' | 'sign-up'>`'account'`.as('kind'),
      'user.sub',
      sql<Buffer | null>`case "user".status when 'ACTIVE' then password.sealed_srp end`.as(
        'sealedSrp',
      ),
      sql<boolean>`false`.as('elsewhere'),
      'user.created_at as createdAt',
    ])
    .where('user.site_id', '=', tx.siteId)
    .where('user.user_pool_id', '=', userPoolId)
    .where('user.email', '=', email)
  const signUps = tx.db
    .selectFrom('pending_sign_up as waiting')
    .select([
      sql<'account' | 'sign-up'>`'sign-up'`.as('kind'),
      'waiting.sub',
      'waiting.sealed_srp as sealedSrp',
      sql<boolean>`waiting.network <> ${network}`.as('elsewhere'),
      'waiting.created_at as createdAt',
    ])
    .where('waiting.site_id', '=', tx.siteId)
    .where('waiting.user_pool_id', '=', userPoolId)
    .where('waiting.email', '=', email)
    .where('waiting.expires_at', '>', now)
  return tx.db
    .selectFrom(accounts.unionAll(signUps).as('either'))
    .select(['either.kind', 'either.sub', 'either.sealedSrp'])
    .orderBy('either.kind')
    .orderBy('either.elsewhere')
    .orderBy('either.createdAt', 'desc')
    .limit(1)
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
