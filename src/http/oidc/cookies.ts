import type { Pool } from '#identity/pools/model.ts'

/** Where a cookie of a pool's sign-in goes to. */
export interface CookieScope {
  /** The path of the issuer, or of one page below it. */
  readonly path: string
  readonly userPoolId: string
  readonly secure: boolean
  /** A cookie without one ends with the browser. */
  readonly expiresAt?: Date
}

/** Where the cookies of a pool's sign-in belong. */
export function poolScope({ issuer }: Pick<Pool, 'issuer'>): CookieScope {
  const { pathname, protocol } = new URL(issuer)
  const userPoolId = pathname.slice(pathname.lastIndexOf('/') + 1)
  return { path: pathname, userPoolId, secure: protocol === 'https:' }
}

/**
 * The cookie of that name. Undefined when it is absent, and also when it comes twice: over plain HTTP one of the two was
 * set by somebody on a neighbouring domain, and there is no telling which.
 */
export function cookieOf(
  request: Request,
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

/** A `Set-Cookie` that no script reads, and that no foreign page's form or frame sends. */
export function setCookie(plainName: string, value: string, scope: CookieScope): string {
  const path = scope.secure ? '/' : scope.path
  const parts = [`${nameIn(scope, plainName)}=${value}`, `Path=${path}`, 'HttpOnly', 'SameSite=Lax']
  if (scope.secure) parts.push('Secure')
  if (scope.expiresAt) parts.push(`Expires=${scope.expiresAt.toUTCString()}`)
  return parts.join('; ')
}

/**
 * Browsers take a cookie named `__Host-…` from this very host alone, over TLS and for all of its paths, so no neighbouring
 * domain can plant one; the pool is in the name because the path cannot say it. Plain HTTP knows no such names.
 */
const nameIn = ({ secure, userPoolId }: CookieScope, plainName: string): string =>
  secure ? `__Host-${plainName}.${userPoolId}` : plainName
