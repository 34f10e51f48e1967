import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { AccountExport } from './model.ts'

export function selectOwnAccount(tx: SiteTx, user: UserKey) {
  return tx.db
    .selectFrom('pool_user')
    .select([
      'sub',
      'email',
      'email_verified as emailVerified',
      'external_email as externalEmail',
      'name',
      'language',
      'settings',
      'role',
      'created_at as createdAt',
      'updated_at as updatedAt',
    ])
    .where(ofUser(tx, user))
    .where('status', '=', 'ACTIVE')
    .executeTakeFirst()
}

/** False when the account is gone. */
export async function updateName(
  tx: SiteTx,
  user: UserKey,
  name: string | null,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('pool_user')
    .set({ name, updated_at: now })
    .where(ofUser(tx, user))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export const selectPasswordChange = (
  tx: SiteTx,
  user: UserKey,
): Promise<{ changedAt: Date } | undefined> =>
  tx.db
    .selectFrom('user_password')
    .select('updated_at as changedAt')
    .where(ofUser(tx, user))
    .executeTakeFirst()

export const selectOwnApp = (
  tx: SiteTx,
  user: UserKey,
): Promise<{ addedAt: Date; recoveryCodesLeft: number } | undefined> =>
  tx.db
    .selectFrom('user_totp')
    .select(['created_at as addedAt', 'recovery_codes_left as recoveryCodesLeft'])
    .where(ofUser(tx, user))
    .executeTakeFirst()

export const selectOwnPasskeys = (
  tx: SiteTx,
  user: UserKey,
): Promise<AccountExport['signInMethods']['passkeys'][number][]> =>
  tx.db
    .selectFrom('user_passkey')
    .select(['name', 'created_at as createdAt', 'last_used_at as lastUsedAt'])
    .where(ofUser(tx, user))
    .orderBy('created_at')
    .execute()

export const selectOwnIdentities = (
  tx: SiteTx,
  user: UserKey,
): Promise<AccountExport['signInMethods']['providers'][number][]> =>
  tx.db
    .selectFrom('user_identity')
    .select(['provider', 'issuer', 'subject', 'email', 'linked_at as linkedAt'])
    .where(ofUser(tx, user))
    .orderBy('linked_at')
    .execute()

export async function deleteOwnIdentities(tx: SiteTx, user: UserKey): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('user_identity')
    .where(ofUser(tx, user))
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

export const selectOwnGroups = (
  tx: SiteTx,
  user: UserKey,
): Promise<AccountExport['groups'][number][]> =>
  tx.db
    .selectFrom('data_group_member')
    .select(['group_name as groupName', 'added_at as addedAt'])
    .where(ofUser(tx, user))
    .orderBy('group_name')
    .execute()

export const selectOwnAddressChanges = (
  tx: SiteTx,
  user: UserKey,
): Promise<AccountExport['addressChanges'][number][]> =>
  tx.db
    .selectFrom('address_change')
    .select([
      'old_email as oldEmail',
      'new_email as newEmail',
      'created_at as createdAt',
      'proven_at as provenAt',
    ])
    .where(ofUser(tx, user))
    .orderBy('created_at')
    .execute()

/** The newest first. */
export function selectOwnConsents(tx: SiteTx, user: UserKey) {
  return tx.db
    .selectFrom('client_consent')
    .select(['client_id as clientId', 'scope', 'granted_at as grantedAt'])
    .where(ofUser(tx, user))
    .orderBy('granted_at', 'desc')
    .execute()
}
