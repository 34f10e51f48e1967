import { unauthorized } from './refusals.ts'

/** The longest token that is looked at; ours are around 1 KiB. */
export const MAX_TOKEN_LENGTH = 8192

const SCHEME = 'bearer '
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/

/**
 * The compact JWS of an `Authorization` header: scheme `Bearer` in any case, one space, the token, nothing else (RFC 6750
 * section 2.1). A header that was sent twice arrives joined by a comma, and is refused.
 */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) throw unauthorized('no Authorization header')
  if (authorization.length > SCHEME.length + MAX_TOKEN_LENGTH) throw unauthorized('too long')
  if (authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) {
    throw unauthorized('another scheme')
  }
  const token = authorization.slice(SCHEME.length)
  if (!COMPACT_JWS.test(token)) throw unauthorized('not a compact JWS')
  return token
}
