import type { Pool } from '#identity/pools/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { lockSessionAccount, selectSessionAccount } from './session-account-queries.ts'
import type { SessionAccount } from './session-account.ts'

/** The user as a token names them; undefined when they are gone, or have not taken up their invitation. */
export const findSessionAccount = (
  tx: SiteTx,
  pool: Pick<Pool, 'userPoolId'>,
  sub: string,
): Promise<SessionAccount | undefined> => selectSessionAccount(tx, pool.userPoolId, sub)

/** For a new sign-in: undefined also when its proof is older than the last sign-out everywhere. */
export async function lockAccountForNewSignIn(
  tx: SiteTx,
  pool: Pick<Pool, 'userPoolId'>,
  { sub, authTime }: { readonly sub: string; readonly authTime: Date },
): Promise<SessionAccount | undefined> {
  const holder = await lockAccountOfSignIn(tx, pool, { sub, authTime })
  return holder && authTime >= holder.signInsValidAfter ? holder : undefined
}

/** For what comes of a sign-in that goes on. */
export async function lockAccountOfSignIn(
  tx: SiteTx,
  pool: Pick<Pool, 'userPoolId'>,
  { sub, authTime }: { readonly sub: string; readonly authTime: Date },
): Promise<SessionAccount | undefined> {
  const holder = await lockSessionAccount(tx, pool.userPoolId, sub)
  return holder && authTime >= holder.tokensValidAfter ? holder : undefined
}
