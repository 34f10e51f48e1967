import { sql } from 'kysely'

import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { MAX_CODE_ATTEMPTS } from './mailed-codes.ts'

export interface NewUserCode extends UserKey {
  readonly codeHash: Buffer
  /** The address that the code proves. */
  readonly email: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** A newer code takes the place of the one before. */
export async function upsertResetCode(tx: SiteTx, code: NewUserCode): Promise<void> {
  const values = {
    code_hash: code.codeHash,
    email: code.email,
    tries: 0,
    created_at: code.createdAt,
    expires_at: code.expiresAt,
  }
  await tx.db
    .insertInto('user_code')
    .values({
      site_id: tx.siteId,
      user_pool_id: code.userPoolId,
      sub: code.sub,
      purpose: 'reset',
      ...values,
    })
    .onConflict((on) =>
      on.columns(['site_id', 'user_pool_id', 'sub', 'purpose']).doUpdateSet(values),
    )
    .execute()
}

/** Uses up one try, before anything is compared. Undefined when there is no code with a try left. */
export function takeResetAttempt(
  tx: SiteTx,
  { userPoolId, sub }: UserKey,
  now: Date,
): Promise<{ readonly codeHash: Buffer; readonly email: string } | undefined> {
  return tx.db
    .updateTable('user_code')
    .set({ tries: sql<number>`tries + 1` })
    .where(ofUser(tx, { userPoolId, sub }))
    .where('purpose', '=', 'reset')
    .where('tries', '<', MAX_CODE_ATTEMPTS)
    .where('expires_at', '>', now)
    .returning(['code_hash as codeHash', 'email'])
    .executeTakeFirst()
}

export async function deleteResetCode(tx: SiteTx, { userPoolId, sub }: UserKey): Promise<void> {
  await tx.db
    .deleteFrom('user_code')
    .where(ofUser(tx, { userPoolId, sub }))
    .where('purpose', '=', 'reset')
    .execute()
}
