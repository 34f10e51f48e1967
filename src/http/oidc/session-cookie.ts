import type { Pool } from '#identity/pools/model.ts'

import { type CookieScope, cookieOf, setCookie } from './cookies.ts'

const NAME = 'croft_session'

/** The browser's sign-in at a pool, as it came with the request. */
export const readSession = (request: Request): string | undefined => cookieOf(request, NAME)

/** The `Set-Cookie` that keeps a browser signed in at one pool: its path is the issuer's. */
export const sessionCookie = (
  pool: Pick<Pool, 'issuer'>,
  session: { readonly token: string; readonly expiresAt: Date },
): string => setCookie(NAME, session.token, { ...poolScope(pool), expiresAt: session.expiresAt })

/** The `Set-Cookie` that ends it. */
export const clearedSession = (pool: Pick<Pool, 'issuer'>): string =>
  setCookie(NAME, '', { ...poolScope(pool), expiresAt: new Date(0) })

/** Where the cookies of a pool's sign-in belong. */
export function poolScope({ issuer }: Pick<Pool, 'issuer'>): CookieScope {
  const { pathname, protocol } = new URL(issuer)
  return { path: pathname, secure: protocol === 'https:' }
}
