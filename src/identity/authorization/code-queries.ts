import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

export interface StoredCode extends UserKey {
  readonly clientId: string
  readonly sessionId: string | null
  readonly redirectUri: string
  /** Null where PKCE was left out. */
  readonly codeChallenge: string | null
  readonly nonce: string | null
  readonly scope: string
  readonly authTime: Date
  readonly expiresAt: Date
  /** The token family of the sign-in that used the code; null until it is used. */
  readonly familyId: string | null
}

export async function insertCode(
  tx: SiteTx,
  code: Omit<StoredCode, 'familyId'> & { readonly codeHash: Buffer; readonly createdAt: Date },
): Promise<void> {
  await tx.db
    .insertInto('authorization_code')
    .values({
      site_id: tx.siteId,
      code_hash: code.codeHash,
      user_pool_id: code.userPoolId,
      client_id: code.clientId,
      sub: code.sub,
      session_id: code.sessionId,
      redirect_uri: code.redirectUri,
      code_challenge: code.codeChallenge,
      nonce: code.nonce,
      scope: code.scope,
      auth_time: code.authTime,
      created_at: code.createdAt,
      expires_at: code.expiresAt,
      used_at: null,
      family_id: null,
    })
    .execute()
}

export function selectCode(tx: SiteTx, codeHash: Buffer): Promise<StoredCode | undefined> {
  return tx.db
    .selectFrom('authorization_code')
    .select([
      'user_pool_id as userPoolId',
      'client_id as clientId',
      'sub',
      'session_id as sessionId',
      'redirect_uri as redirectUri',
      'code_challenge as codeChallenge',
      'nonce',
      'scope',
      'auth_time as authTime',
      'expires_at as expiresAt',
      'family_id as familyId',
    ])
    .where('site_id', '=', tx.siteId)
    .where('code_hash', '=', codeHash)
    .executeTakeFirst()
}

export async function markCodeUsed(
  tx: SiteTx,
  codeHash: Buffer,
  use: { readonly familyId: string; readonly now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('authorization_code')
    .set({ used_at: use.now, family_id: use.familyId })
    .where('site_id', '=', tx.siteId)
    .where('code_hash', '=', codeHash)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function deleteCodesOfSession(
  tx: SiteTx,
  user: UserKey,
  sessionId: string,
): Promise<void> {
  await tx.db
    .deleteFrom('authorization_code')
    .where(ofUser(tx, user))
    .where('session_id', '=', sessionId)
    .execute()
}

export async function deleteCodesOfClient(
  tx: SiteTx,
  user: UserKey,
  clientId: string,
): Promise<void> {
  await tx.db
    .deleteFrom('authorization_code')
    .where(ofUser(tx, user))
    .where('client_id', '=', clientId)
    .execute()
}

export async function deleteCodesOfUser(
  tx: SiteTx,
  user: UserKey,
  keptSessionId: string | null,
): Promise<void> {
  await tx.db
    .deleteFrom('authorization_code')
    .where(ofUser(tx, user))
    .where('session_id', 'is distinct from', keptSessionId)
    .execute()
}
