import { inPool } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { PublicJwk } from './model.ts'

export interface StoredKey {
  readonly userPoolId: string
  readonly kid: string
  readonly publicJwk: unknown
  readonly expiresAt: Date | null
}

export async function insertKey(
  tx: SiteTx,
  key: {
    readonly userPoolId: string
    readonly kid: string
    readonly publicJwk: PublicJwk
    readonly sealedPrivate: Buffer
    readonly createdAt: Date
  },
): Promise<void> {
  await tx.db
    .insertInto('signing_key')
    .values({
      site_id: tx.siteId,
      user_pool_id: key.userPoolId,
      kid: key.kid,
      alg: 'RS256',
      public_jwk: JSON.stringify(key.publicJwk),
      sealed_private: key.sealedPrivate,
      created_at: key.createdAt,
      retired_at: null,
      expires_at: null,
    })
    .execute()
}

/** Newest first, so that the first of a pool is the one that signs. */
export function selectPublishedKeys(tx: SiteTx, now: Date): Promise<StoredKey[]> {
  return tx.db
    .selectFrom('signing_key')
    .select([
      'user_pool_id as userPoolId',
      'kid',
      'public_jwk as publicJwk',
      'expires_at as expiresAt',
    ])
    .where('site_id', '=', tx.siteId)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .orderBy('created_at', 'desc')
    .execute()
}

export async function hasSigningKey(tx: SiteTx, userPoolId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('signing_key')
    .select('kid')
    .where(inPool(tx, userPoolId))
    .where('expires_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

export function selectSealedKey(
  tx: SiteTx,
  userPoolId: string,
  kid: string,
): Promise<{ sealedPrivate: Buffer } | undefined> {
  return tx.db
    .selectFrom('signing_key')
    .select('sealed_private as sealedPrivate')
    .where(inPool(tx, userPoolId))
    .where('kid', '=', kid)
    .executeTakeFirst()
}

export async function retireKeys(
  tx: SiteTx,
  userPoolId: string,
  times: { readonly retiredAt: Date; readonly expiresAt: Date },
): Promise<void> {
  await tx.db
    .updateTable('signing_key')
    .set({ retired_at: times.retiredAt, expires_at: times.expiresAt })
    .where(inPool(tx, userPoolId))
    .where('retired_at', 'is', null)
    .execute()
}

export async function deleteExpiredKeys(tx: SiteTx, userPoolId: string, now: Date): Promise<void> {
  await tx.db
    .deleteFrom('signing_key')
    .where(inPool(tx, userPoolId))
    .where('expires_at', '<=', now)
    .execute()
}

/** Every token of the pool ends with its keys. */
export async function deleteKeys(tx: SiteTx, userPoolId: string): Promise<void> {
  await tx.db.deleteFrom('signing_key').where(inPool(tx, userPoolId)).execute()
}

/** The pool's keys change one rotation at a time. Gives when each of them ends, the next to end first. */
export async function lockPoolKeys(
  tx: SiteTx,
  userPoolId: string,
): Promise<readonly { readonly expiresAt: Date | null }[]> {
  await tx.db
    .selectFrom('user_pool')
    .select('user_pool_id')
    .where(inPool(tx, userPoolId))
    .forUpdate()
    .executeTakeFirstOrThrow()
  return tx.db
    .selectFrom('signing_key')
    .select('expires_at as expiresAt')
    .where(inPool(tx, userPoolId))
    .orderBy('expires_at')
    .execute()
}
