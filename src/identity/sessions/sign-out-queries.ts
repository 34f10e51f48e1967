import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

/** Which sign-ins a moment ends: those with all tokens that exist, or only those that are still under way. */
export type EndedBySignOut = 'all-tokens' | 'sign-ins'

export async function updateValidAfter(
  tx: SiteTx,
  user: UserKey,
  moved: EndedBySignOut,
  now: Date,
): Promise<void> {
  await tx.db
    .updateTable('pool_user')
    .set({
      sign_ins_valid_after: now,
      ...(moved === 'all-tokens' && { tokens_valid_after: now }),
    })
    .where('site_id', '=', tx.siteId)
    .where('user_pool_id', '=', user.userPoolId)
    .where('sub', '=', user.sub)
    .execute()
}
