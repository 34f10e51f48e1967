import type { GatedRequest } from '#http/plugins/pages.ts'
import type { Pool } from '#identity/pools/model.ts'

import { cookieOf, poolScope, setCookie } from './cookies.ts'

const NAME = 'croft_signed_out'
/** Longer than the redirect that it goes along with takes. */
const LIFETIME_MS = 60_000

type AdminPool = Pick<Pool, 'issuer' | 'kind'>

/** Where the administration is, on its own origin: the way in, and where its sign-outs lead. */
export const ADMINISTRATION = '/admin'

/**
 * The `Set-Cookie` that tells the administration's page what has just been done, where a sign-out leads there: else the page
 * would lead on to the sign-in. It authenticates nothing.
 */
export function signedOutCookie(pool: AdminPool, location: string, now: Date): readonly string[] {
  const { origin, pathname } = new URL(location, pool.issuer)
  const isAdministration =
    pool.kind === 'admin' && origin === new URL(pool.issuer).origin && pathname === ADMINISTRATION
  const expiresAt = new Date(now.getTime() + LIFETIME_MS)
  return isAdministration ? [setCookie(NAME, '1', { ...scopeOf(pool), expiresAt })] : []
}

export const hasJustSignedOut = (request: GatedRequest, pool: AdminPool): boolean =>
  cookieOf(request, NAME, scopeOf(pool)) !== undefined

/** The `Set-Cookie` that deletes it. */
export const clearedSignedOut = (pool: AdminPool): string =>
  setCookie(NAME, '', { ...scopeOf(pool), expiresAt: new Date(0) })

const scopeOf = (pool: AdminPool) => ({ ...poolScope(pool), path: ADMINISTRATION })
