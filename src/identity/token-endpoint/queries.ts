import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

/** A refresh token with the family that it belongs to. */
export interface StoredRefreshToken extends UserKey {
  readonly familyId: string
  readonly clientId: string
  readonly scope: string
  readonly authTime: Date
  readonly expiresAt: Date
  readonly revokedAt: Date | null
  /** Null without a browser session. */
  readonly sessionId: string | null
  /** When this token was issued: the sign-in was used then. */
  readonly issuedAt: Date
}

export async function insertRefreshToken(
  tx: SiteTx,
  token: { readonly tokenHash: Buffer; readonly familyId: string; readonly createdAt: Date },
): Promise<void> {
  await tx.db
    .insertInto('refresh_token')
    .values({
      site_id: tx.siteId,
      token_hash: token.tokenHash,
      family_id: token.familyId,
      used_at: null,
      created_at: token.createdAt,
    })
    .execute()
}

export function selectRefreshToken(
  tx: SiteTx,
  tokenHash: Buffer,
): Promise<StoredRefreshToken | undefined> {
  return tx.db
    .selectFrom('refresh_token as token')
    .innerJoin('refresh_family as family', (join) =>
      join
        .onRef('family.site_id', '=', 'token.site_id')
        .onRef('family.family_id', '=', 'token.family_id'),
    )
    .select([
      'family.family_id as familyId',
      'family.user_pool_id as userPoolId',
      'family.client_id as clientId',
      'family.sub',
      'family.scope',
      'family.auth_time as authTime',
      'family.expires_at as expiresAt',
      'family.revoked_at as revokedAt',
      'family.session_id as sessionId',
      'token.created_at as issuedAt',
    ])
    .where('token.site_id', '=', tx.siteId)
    .where('token.token_hash', '=', tokenHash)
    .executeTakeFirst()
}

/** When a token is used twice at once, one of the two gets true. */
export async function markRefreshTokenUsed(
  tx: SiteTx,
  tokenHash: Buffer,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('refresh_token')
    .set({ used_at: now })
    .where('site_id', '=', tx.siteId)
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function insertRefreshResponse(
  tx: SiteTx,
  response: {
    readonly tokenHash: Buffer
    readonly familyId: string
    readonly sealed: string
    readonly expiresAt: Date
  },
): Promise<void> {
  await tx.db
    .insertInto('refresh_response')
    .values({
      site_id: tx.siteId,
      token_hash: response.tokenHash,
      family_id: response.familyId,
      sealed: response.sealed,
      expires_at: response.expiresAt,
    })
    .execute()
}

export async function selectRefreshResponse(
  tx: SiteTx,
  tokenHash: Buffer,
  now: Date,
): Promise<string | undefined> {
  const row = await tx.db
    .selectFrom('refresh_response')
    .select('sealed')
    .where('site_id', '=', tx.siteId)
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row?.sealed
}
