import { sql } from 'kysely'

import { type UserKey, inPool, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

export interface StoredPasskey {
  readonly credentialId: Buffer
  readonly sub: string
  readonly publicKey: Buffer
  /** A `bigint`, which comes as text. */
  readonly signCount: string
  readonly transports: unknown
}

export const selectPasskeys = (tx: SiteTx, user: UserKey) =>
  tx.db
    .selectFrom('user_passkey')
    .select([
      'credential_id as credentialId',
      'name',
      'created_at as createdAt',
      'last_used_at as lastUsedAt',
    ])
    .where(ofUser(tx, user))
    .orderBy('created_at')
    .execute()

/** Other uses of the key wait until the transaction ends. */
export const selectPasskeyForUpdate = (
  tx: SiteTx,
  userPoolId: string,
  credentialId: Buffer,
): Promise<StoredPasskey | undefined> =>
  tx.db
    .selectFrom('user_passkey')
    .select([
      'credential_id as credentialId',
      'sub',
      'public_key as publicKey',
      'sign_count as signCount',
      'transports',
    ])
    .where(inPool(tx, userPoolId))
    .where('credential_id', '=', credentialId)
    .forUpdate()
    .executeTakeFirst()

/** False when the pool knows the key. */
export async function insertPasskey(
  tx: SiteTx,
  user: UserKey,
  passkey: Omit<StoredPasskey, 'sub'> & { readonly name: string; readonly createdAt: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx.db
    .insertInto('user_passkey')
    .values({
      site_id: tx.siteId,
      user_pool_id: user.userPoolId,
      sub: user.sub,
      credential_id: passkey.credentialId,
      public_key: passkey.publicKey,
      sign_count: passkey.signCount,
      transports: JSON.stringify(passkey.transports),
      name: passkey.name,
      created_at: passkey.createdAt,
      last_used_at: null,
    })
    .onConflict((on) => on.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

export async function countPasskeys(tx: SiteTx, user: UserKey): Promise<number> {
  const { count } = await tx.db
    .selectFrom('user_passkey')
    .select(sql<number>`count(*)::int`.as('count'))
    .where(ofUser(tx, user))
    .executeTakeFirstOrThrow()
  return count
}

export async function updateUse(
  tx: SiteTx,
  userPoolId: string,
  credentialId: Buffer,
  use: { readonly signCount: number; readonly now: Date },
): Promise<void> {
  await tx.db
    .updateTable('user_passkey')
    .set({ sign_count: String(use.signCount), last_used_at: use.now })
    .where(inPool(tx, userPoolId))
    .where('credential_id', '=', credentialId)
    .execute()
}

export async function deletePasskey(
  tx: SiteTx,
  user: UserKey,
  credentialId: Buffer,
): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('user_passkey')
    .where(ofUser(tx, user))
    .where('credential_id', '=', credentialId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
