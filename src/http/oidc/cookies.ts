import type { GatedRequest } from '#http/plugins/pages.ts'
import type { Pool } from '#identity/pools/model.ts'

/** Which requests a browser sends a cookie with. */
export interface CookieScope {
  /** The path of the issuer, or of one page below it. */
  readonly path: string
  readonly userPoolId: string
  readonly secure: boolean
  /** Sent to the names below this one, too; to the host that sets it alone when left out. */
  readonly domain?: string
  /** A cookie without it is deleted when the browser is closed. */
  readonly expiresAt?: Date
}

/** The scope of the cookies of a pool's sign-in. */
export function poolScope({ issuer }: Pick<Pool, 'issuer'>): CookieScope {
  const { pathname, protocol } = new URL(issuer)
  const userPoolId = pathname.slice(pathname.lastIndexOf('/') + 1)
  return { path: pathname, userPoolId, secure: protocol === 'https:' }
}

/**
 * The cookie of that name. Undefined when it is absent, and when it comes twice with different values: over plain HTTP a
 * neighbouring domain may have set one of the two.
 */
export function cookieOf(
  request: GatedRequest,
  plainName: string,
  scope: CookieScope,
): string | undefined {
  const name = nameIn(scope, plainName)
  const values = (request.headers.get('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  const [value] = values
  return value === '' || values.some((other) => other !== value) ? undefined : value
}

/** A `Set-Cookie` that scripts cannot read, and that browsers do not send with forms or frames of other sites. */
export function setCookie(plainName: string, value: string, scope: CookieScope): string {
  const path = scope.secure ? '/' : scope.path
  const parts = [`${nameIn(scope, plainName)}=${value}`, `Path=${path}`, 'HttpOnly', 'SameSite=Lax']
  if (scope.secure) parts.push('Secure')
  if (scope.domain !== undefined) parts.push(`Domain=${scope.domain}`)
  if (scope.expiresAt) parts.push(`Expires=${scope.expiresAt.toUTCString()}`)
  return parts.join('; ')
}

/**
 * Browsers accept a cookie named `__Host-…` from this host alone, over TLS and for all of its paths, so no neighbouring
 * domain can set one. The name includes the pool because the path cannot. Over plain HTTP there is no such prefix.
 */
function nameIn({ secure, userPoolId, domain }: CookieScope, plainName: string): string {
  if (!secure) return plainName
  return `${domain === undefined ? '__Host-' : '__Secure-'}${plainName}.${userPoolId}`
}
