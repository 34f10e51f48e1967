import { MAX_CODE_ATTEMPTS } from '#identity/mailed-codes.ts'
import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

/** A code that a signed-in user requested: of one action in one sign-in, or of a new address. */
export interface ProofCodeKey extends UserKey {
  readonly purpose: 'proof' | 'address'
  readonly requester: string
}

interface NewProofCode extends ProofCodeKey {
  readonly codeHash: Buffer
  /** The address that it is mailed to. */
  readonly email: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** A newer code replaces the one before. */
export async function upsertProofCode(tx: SiteTx, code: NewProofCode): Promise<void> {
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
      purpose: code.purpose,
      requester: code.requester,
      ...values,
    })
    .onConflict((on) =>
      on.columns(['site_id', 'user_pool_id', 'sub', 'purpose', 'requester']).doUpdateSet(values),
    )
    .execute()
}

/** Uses up one try, before anything is compared. Undefined when there is no code with a try left. */
export function takeProofAttempt(
  tx: SiteTx,
  key: ProofCodeKey,
  now: Date,
): Promise<{ readonly codeHash: Buffer; readonly email: string } | undefined> {
  return tx.db
    .updateTable('user_code')
    .set((row) => ({ tries: row('tries', '+', 1) }))
    .where(ofUser(tx, key))
    .where('purpose', '=', key.purpose)
    .where('requester', '=', key.requester)
    .where('tries', '<', MAX_CODE_ATTEMPTS)
    .where('expires_at', '>', now)
    .returning(['code_hash as codeHash', 'email'])
    .executeTakeFirst()
}

export async function deleteProofCode(tx: SiteTx, key: ProofCodeKey): Promise<void> {
  await tx.db
    .deleteFrom('user_code')
    .where(ofUser(tx, key))
    .where('purpose', '=', key.purpose)
    .where('requester', '=', key.requester)
    .execute()
}
