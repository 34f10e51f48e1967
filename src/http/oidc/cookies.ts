export interface CookieScope {
  readonly path: string
  readonly secure: boolean
  /** A cookie without one ends with the browser. */
  readonly expiresAt?: Date
}

/**
 * The cookie of that name. Undefined when it is absent, and also when it comes twice: one of the two was set by somebody
 * on a neighbouring domain, and there is no telling which.
 */
export function cookieOf(request: Request, name: string): string | undefined {
  const values = (request.headers.get('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  const [value] = values
  return value === '' || values.some((other) => other !== value) ? undefined : value
}

/** A `Set-Cookie` that no script reads, and that no foreign page's form or frame sends. */
export function setCookie(name: string, value: string, scope: CookieScope): string {
  const parts = [`${name}=${value}`, `Path=${scope.path}`, 'HttpOnly', 'SameSite=Lax']
  if (scope.secure) parts.push('Secure')
  if (scope.expiresAt) parts.push(`Expires=${scope.expiresAt.toUTCString()}`)
  return parts.join('; ')
}
