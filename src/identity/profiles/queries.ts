import { Value } from '@sinclair/typebox/value'

import { AppError } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'
import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { UserProfile, StoredProfile } from './model.ts'
import { ProfileSettings } from './settings.ts'

const UNIQUE_VIOLATION = '23505'

export async function selectProfile(
  tx: SiteTx,
  owner: UserKey,
): Promise<StoredProfile | undefined> {
  return stored(await profile(tx, owner).executeTakeFirst())
}

export async function selectProfileForUpdate(
  tx: SiteTx,
  owner: UserKey,
): Promise<StoredProfile | undefined> {
  return stored(await profile(tx, owner).forUpdate().executeTakeFirst())
}

/** 409 `UserAlreadyExists` when another account has the primary address. */
export async function updateProfile(
  tx: SiteTx,
  owner: UserKey,
  change: UserProfile & { readonly emailVerified: boolean; readonly updatedAt: Date },
): Promise<void> {
  const update = tx.db
    .updateTable('pool_user')
    .set({
      email: change.primaryEmail,
      email_verified: change.emailVerified,
      external_email: change.externalEmail,
      active_address: change.activeAddress,
      settings: JSON.stringify(change.settings),
      updated_at: change.updatedAt,
    })
    .where(ofUser(tx, owner))
    .execute()
  await update.catch((error: unknown) => {
    if (!hasCode(error, UNIQUE_VIOLATION)) throw error
    const message = `There is a user with the address "${change.primaryEmail}" already`
    throw new AppError('UserAlreadyExists', message, { cause: error })
  })
}

/** A code that went to an address is no proof for the account once the address has changed. */
export async function deleteCodes(tx: SiteTx, owner: UserKey): Promise<void> {
  await tx.db.deleteFrom('user_code').where(ofUser(tx, owner)).execute()
}

const profile = (tx: SiteTx, owner: UserKey) =>
  tx.db
    .selectFrom('pool_user')
    .select([
      'user_pool_id as userPoolId',
      'sub',
      'email as primaryEmail',
      'email_verified as emailVerified',
      'external_email as externalEmail',
      'active_address as activeAddress',
      'settings',
      'role',
      'status',
      'created_at as createdAt',
      'updated_at as updatedAt',
    ])
    .where(ofUser(tx, owner))

const stored = <Row extends { readonly settings: unknown }>(row: Row | undefined) =>
  row && { ...row, settings: storedSettings(row.settings) }

/** As they are: a parser would make another object of keys like `__proto__`. */
function storedSettings(settings: unknown): ProfileSettings {
  Value.Assert(ProfileSettings, settings)
  return settings
}
