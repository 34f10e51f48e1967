import type { Pool } from '#identity/pools/model.ts'
import type { TokenSubject } from '#identity/tokens/claims.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'

import type { SessionAccount } from './model.ts'
import {
  lockSessionAccount,
  selectSessionAccount,
  updateLanguage,
} from './session-account-queries.ts'

/** The account as tokens describe it: an admin's only group is the role. */
export const tokenSubjectOf = ({ role, groups, ...account }: SessionAccount): TokenSubject => ({
  sub: account.sub,
  username: account.email,
  email: account.email,
  emailVerified: account.emailVerified,
  name: account.name,
  groups: role === null ? groups : [role],
})

/** Undefined when the account was deleted, or its invitation has not been taken up. */
export const findSessionAccount = (
  tx: SiteTx,
  pool: Pick<Pool, 'userPoolId'>,
  sub: string,
): Promise<SessionAccount | undefined> => selectSessionAccount(tx, pool.userPoolId, sub)

/** For a new sign-in. Undefined also when its proof is older than the last sign-out everywhere. */
export async function lockAccountForNewSignIn(
  tx: SiteTx,
  pool: Pick<Pool, 'userPoolId'>,
  { sub, authTime }: { readonly sub: string; readonly authTime: Date },
): Promise<SessionAccount | undefined> {
  const account = await lockAccountOfSignIn(tx, pool, { sub, authTime })
  return account && authTime >= account.signInsValidAfter ? account : undefined
}

/** For codes and tokens of an earlier sign-in. */
export async function lockAccountOfSignIn(
  tx: SiteTx,
  pool: Pick<Pool, 'userPoolId'>,
  { sub, authTime }: { readonly sub: string; readonly authTime: Date },
): Promise<SessionAccount | undefined> {
  const account = await lockSessionAccount(tx, pool.userPoolId, sub)
  return account && authTime >= account.tokensValidAfter ? account : undefined
}

/** After the sign-in, whose transaction shares the account's row with others like it. */
export async function rememberLanguage(
  database: Pick<Database, 'withSite'>,
  siteId: string,
  user: UserKey & Pick<SessionAccount, 'language'>,
  language: string | undefined,
): Promise<void> {
  if (language === undefined || language === user.language) return
  await database.withSite(siteId, (tx) => updateLanguage(tx, user, language))
}
