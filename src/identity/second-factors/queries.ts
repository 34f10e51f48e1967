import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

export interface StoredTotp {
  readonly sealedSecret: Buffer
  readonly sealedRecoveryCodes: Buffer
  readonly recoveryCodesLeft: number
  readonly lastStep: number
  readonly failures: number
  readonly failedSince: Date | null
}

const totp = (tx: SiteTx, user: UserKey) =>
  tx.db
    .selectFrom('user_totp')
    .select([
      'sealed_secret as sealedSecret',
      'sealed_recovery_codes as sealedRecoveryCodes',
      'recovery_codes_left as recoveryCodesLeft',
      'last_step as lastStep',
      'failures',
      'failed_since as failedSince',
    ])
    .where(ofUser(tx, user))

export const selectTotp = (tx: SiteTx, user: UserKey): Promise<StoredTotp | undefined> =>
  totp(tx, user).executeTakeFirst()

/** Other attempts wait until the transaction ends. */
export const selectTotpForUpdate = (tx: SiteTx, user: UserKey): Promise<StoredTotp | undefined> =>
  totp(tx, user).forUpdate().executeTakeFirst()

/** False when the account has one. */
export async function insertTotp(
  tx: SiteTx,
  user: UserKey,
  totp: Omit<StoredTotp, 'failures' | 'failedSince'> & { readonly createdAt: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx.db
    .insertInto('user_totp')
    .values({
      site_id: tx.siteId,
      user_pool_id: user.userPoolId,
      sub: user.sub,
      sealed_secret: totp.sealedSecret,
      sealed_recovery_codes: totp.sealedRecoveryCodes,
      recovery_codes_left: totp.recoveryCodesLeft,
      last_step: totp.lastStep,
      created_at: totp.createdAt,
    })
    .onConflict((on) => on.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

/** What a right code leaves: it is used, and those before it that were wrong are forgotten. */
export async function updateUsedStep(tx: SiteTx, user: UserKey, lastStep: number): Promise<void> {
  await tx.db
    .updateTable('user_totp')
    .set({ last_step: lastStep, failures: 0, failed_since: null })
    .where(ofUser(tx, user))
    .execute()
}

export async function updateRecoveryCodes(
  tx: SiteTx,
  user: UserKey,
  codes: Pick<StoredTotp, 'sealedRecoveryCodes' | 'recoveryCodesLeft'>,
): Promise<void> {
  await tx.db
    .updateTable('user_totp')
    .set({
      sealed_recovery_codes: codes.sealedRecoveryCodes,
      recovery_codes_left: codes.recoveryCodesLeft,
      failures: 0,
      failed_since: null,
    })
    .where(ofUser(tx, user))
    .execute()
}

export async function updateFailures(
  tx: SiteTx,
  user: UserKey,
  { failures, failedSince }: { readonly failures: number; readonly failedSince: Date },
): Promise<void> {
  await tx.db
    .updateTable('user_totp')
    .set({ failures, failed_since: failedSince })
    .where(ofUser(tx, user))
    .execute()
}

export async function deleteTotp(tx: SiteTx, user: UserKey): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('user_totp')
    .where(ofUser(tx, user))
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
