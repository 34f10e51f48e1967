export type Role = 'user' | 'admin' | 'super-admin'

/** Who is signed in. */
export interface Account {
  readonly userId: string
  readonly email: string
  readonly role: Role
}

export interface Tokens {
  readonly accessToken: string
  readonly idToken: string
  readonly refreshToken: string | undefined
  /** Milliseconds of the clock that `now` is of. */
  readonly expiresAt: number
  readonly account: Account
}

export interface TokenExpectation {
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a refresh, where the ID token has none. */
  readonly nonce: string | undefined
  readonly now: number
}

const ROLES: readonly Role[] = ['super-admin', 'admin', 'user']

/**
 * Parses a response of the token endpoint. Its TLS stands for the signature (OpenID Connect Core section 3.1.3.7, item 6); issuer, audience
 * and nonce are checked.
 */
export function parseTokens(body: unknown, expected: TokenExpectation): Tokens {
  const field = (name: string): unknown => Reflect.get(Object(body), name)
  const accessToken = field('access_token')
  const idToken = field('id_token')
  const refreshToken = field('refresh_token')
  const expiresIn = field('expires_in')
  if (typeof accessToken !== 'string' || typeof idToken !== 'string') {
    throw new Error('The response has no tokens')
  }
  const claims = claimsOf(idToken)
  const isOurs =
    claims['iss'] === expected.issuer &&
    claims['aud'] === expected.clientId &&
    (expected.nonce === undefined || claims['nonce'] === expected.nonce)
  if (!isOurs) throw new Error('The ID token is for another sign-in')
  return {
    accessToken,
    idToken,
    refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined,
    expiresAt: expected.now + (typeof expiresIn === 'number' ? expiresIn : 300) * 1000,
    account: accountOf(claims),
  }
}

const accountOf = (claims: Readonly<Record<string, unknown>>): Account => {
  const groups = claims['cognito:groups']
  return {
    userId: String(claims['sub']),
    email: typeof claims['email'] === 'string' ? claims['email'] : '',
    role: ROLES.find((role) => Array.isArray(groups) && groups.includes(role)) ?? 'user',
  }
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
  const bytes = Uint8Array.from(atob(payload), (character) => character.codePointAt(0) ?? 0)
  const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
  return { ...Object(claims) }
}
