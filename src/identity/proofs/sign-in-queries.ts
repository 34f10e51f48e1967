import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

interface SignInKey extends UserKey {
  readonly familyId: string
}

/** A sign-in without a browser session, newer than that, that has not ended. */
export function selectFreshSignIn(
  tx: SiteTx,
  { familyId, ...user }: SignInKey,
  since: Date,
): Promise<{ readonly usedAt: Date | null } | undefined> {
  return tx.db
    .selectFrom('refresh_family')
    .select('proof_used_at as usedAt')
    .where(ofUser(tx, user))
    .where('family_id', '=', familyId)
    .where('session_id', 'is', null)
    .where('revoked_at', 'is', null)
    .where('created_at', '>', since)
    .executeTakeFirst()
}

/** False for one that was used, is too old, or has a browser session. */
export async function takeSignIn(
  tx: SiteTx,
  { familyId, ...user }: SignInKey,
  { now, since }: { readonly now: Date; readonly since: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('refresh_family')
    .set({ proof_used_at: now })
    .where(ofUser(tx, user))
    .where('family_id', '=', familyId)
    .where('session_id', 'is', null)
    .where('revoked_at', 'is', null)
    .where('proof_used_at', 'is', null)
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function releaseSignIn(tx: SiteTx, { familyId, ...user }: SignInKey): Promise<void> {
  await tx.db
    .updateTable('refresh_family')
    .set({ proof_used_at: null })
    .where(ofUser(tx, user))
    .where('family_id', '=', familyId)
    .execute()
}
