import type { GatedRequest } from '#http/plugins/pages.ts'
import type { Pool } from '#identity/pools/model.ts'

import { cookieOf, poolScope, setCookie } from './cookies.ts'

const NAME = 'croft_session'

/** The token of the browser's session at a pool. */
export const readSession = (
  request: GatedRequest,
  pool: Pick<Pool, 'issuer'>,
): string | undefined => cookieOf(request, NAME, poolScope(pool))

/** The `Set-Cookie` that keeps a browser signed in at one pool. */
export const sessionCookie = (
  pool: Pick<Pool, 'issuer'>,
  session: { readonly token: string; readonly expiresAt: Date },
): string => setCookie(NAME, session.token, { ...poolScope(pool), expiresAt: session.expiresAt })

/** The `Set-Cookie` that deletes it. */
export const clearedSession = (pool: Pick<Pool, 'issuer'>): string =>
  setCookie(NAME, '', { ...poolScope(pool), expiresAt: new Date(0) })
