import type { Pool } from '#identity/pools/model.ts'
import type { TokenSubject } from '#identity/tokens/claims.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { SessionAccount } from './model.ts'
import { lockSessionAccount, selectSessionAccount } from './session-account-queries.ts'

/** As tokens name them: the role is the only group of an admin. */
export const tokenSubjectOf = ({ role, groups, ...account }: SessionAccount): TokenSubject => ({
  sub: account.sub,
  username: account.email,
  email: account.email,
  emailVerified: account.emailVerified,
  groups: role === null ? groups : [role],
})

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
  const account = await lockAccountOfSignIn(tx, pool, { sub, authTime })
  return account && authTime >= account.signInsValidAfter ? account : undefined
}

/** For what comes of a sign-in that goes on. */
export async function lockAccountOfSignIn(
  tx: SiteTx,
  pool: Pick<Pool, 'userPoolId'>,
  { sub, authTime }: { readonly sub: string; readonly authTime: Date },
): Promise<SessionAccount | undefined> {
  const account = await lockSessionAccount(tx, pool.userPoolId, sub)
  return account && authTime >= account.tokensValidAfter ? account : undefined
}
