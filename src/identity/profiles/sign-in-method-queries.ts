import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

/** Removes what an account got since then that signs it in or asks for a second step. Returns what there was, one word each. */
export async function deleteSignInMethodsSince(
  tx: SiteTx,
  user: UserKey,
  since: Date,
): Promise<readonly string[]> {
  const passkeys = await tx.db
    .deleteFrom('user_passkey')
    .where(ofUser(tx, user))
    .where('created_at', '>=', since)
    .returning('credential_id')
    .execute()
  const apps = await tx.db
    .deleteFrom('user_totp')
    .where(ofUser(tx, user))
    .where('created_at', '>=', since)
    .returning('sub')
    .execute()
  const identities = await tx.db
    .deleteFrom('user_identity')
    .where(ofUser(tx, user))
    .where('linked_at', '>=', since)
    .returning('provider')
    .execute()
  return [
    ...(passkeys.length > 0 ? ['passkey'] : []),
    ...(apps.length > 0 ? ['totp'] : []),
    ...identities.map(({ provider }) => provider),
  ]
}
