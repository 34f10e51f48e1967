/** The cookies of sign-in pages, whatever prefix keeps others from setting them. */
const RESERVED = /^(?:__(?:Host|Secure)-)?croft_/i

/** A browser takes a cookie without a name by its value: `=croft_session=x` would be sent as `croft_session=x`. */
export const isReservedCookie = (name: string): boolean => name === '' || RESERVED.test(name)

/** A `Cookie` header without the service's own. */
export function withoutReservedCookies(header: string): string {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !RESERVED.test(pair))
    .join('; ')
}
