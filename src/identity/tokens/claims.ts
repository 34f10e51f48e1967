import { type Static, Type } from '@sinclair/typebox'

import { TOKEN_LIFETIME_SECONDS } from '#identity/keys/model.ts'
import type { Pool } from '#identity/pools/model.ts'
import { COGNITO_API_SCOPE, scopesOf } from '#identity/pools/scopes.ts'

export type TokenUse = 'access' | 'id'

const Seconds = Type.Number({ minimum: 0, maximum: 1e11 })

/** The claims of a token as they are read back. `nbf` is honoured, though we never set it. */
export const TokenClaims = Type.Object({
  sub: Type.String({ minLength: 1, maxLength: 128 }),
  iss: Type.String(),
  iat: Seconds,
  exp: Seconds,
  nbf: Type.Optional(Seconds),
  auth_time: Seconds,
  jti: Type.String(),
  /** The sign-in that the token comes from; absent in what an operator minted. */
  origin_jti: Type.Optional(Type.String({ maxLength: 64 })),
  token_use: Type.Union([Type.Literal('access'), Type.Literal('id')]),
  client_id: Type.Optional(Type.String()),
  aud: Type.Optional(Type.String()),
  username: Type.String(),
  'cognito:username': Type.Optional(Type.String()),
  scope: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  email_verified: Type.Optional(Type.Boolean()),
  name: Type.Optional(Type.String()),
  /** The `nonce` of the authorization request; only in its first id token. */
  nonce: Type.Optional(Type.String()),
  'cognito:groups': Type.Optional(Type.Array(Type.String())),
})
export type TokenClaims = Static<typeof TokenClaims>

export interface TokenSubject {
  readonly sub: string
  readonly username: string
  readonly email: string
  readonly emailVerified: boolean
  /** What they call themselves; absent and null mean the same: no name. */
  readonly name?: string | null
  /** The role in the admin pool, groups in the data pool. */
  readonly groups: readonly string[]
}

export interface TokenTimes {
  readonly issuedAtSeconds: number
  /** When the user proved who they are: at sign-in, not at a refresh. */
  readonly authTimeSeconds: number
}

/** What ties a token to the sign-in that it comes from. */
export interface TokenSignIn {
  readonly familyId: string
  /** Space-separated, of the access token. */
  readonly scope: string
  readonly nonce?: string | undefined
}

export type TokenClient = Pick<Pool, 'issuer' | 'apiOrigin' | 'clientId' | 'clients'>

type TokenPart = Partial<TokenClaims>

/** With `aud` for clients that want RFC 9068: section 2.2, the origin on which the site takes the token. */
function accessTokenOf(
  { apiOrigin, clientId, clients }: TokenClient,
  signIn?: TokenSignIn,
): TokenPart {
  const format = clients.get(clientId)?.accessTokenFormat
  return {
    client_id: clientId,
    ...(format === 'rfc9068' && { aud: apiOrigin }),
    ...(signIn && { scope: signIn.scope }),
  }
}

const idTokenOf = (
  { clientId }: TokenClient,
  { username, email, emailVerified, name }: TokenSubject,
  signIn?: TokenSignIn,
): TokenPart => ({
  aud: clientId,
  'cognito:username': username,
  ...(tells('email', signIn) && { email, email_verified: emailVerified }),
  ...(typeof name === 'string' && tells('profile', signIn) && { name }),
  ...(signIn?.nonce !== undefined && { nonce: signIn.nonce }),
})

/** The header's `typ`. */
export const tokenTypeOf = ({ token_use: use, aud }: TokenClaims): 'JWT' | 'at+jwt' =>
  use === 'access' && aud !== undefined ? 'at+jwt' : 'JWT'

/** Sign-ins through Cognito's API have its scope alone, which covers all of the profile; so has what an operator mints. */
const tells = (scope: 'email' | 'profile', signIn: TokenSignIn | undefined): boolean =>
  signIn === undefined ||
  scopesOf(signIn.scope).some((word) => word === scope || word === COGNITO_API_SCOPE)

/** The claims of a new token, named as Cognito names them; `cognito:groups` is left out when there is none. */
export function newTokenClaims(
  pool: TokenClient,
  use: TokenUse,
  subject: TokenSubject,
  stamp: TokenTimes & { readonly jti: string; readonly signIn?: TokenSignIn | undefined },
): TokenClaims {
  const { signIn } = stamp
  return {
    sub: subject.sub,
    iss: pool.issuer,
    token_use: use,
    username: subject.username,
    ...(use === 'access' ? accessTokenOf(pool, signIn) : idTokenOf(pool, subject, signIn)),
    ...(signIn && { origin_jti: signIn.familyId }),
    ...(subject.groups.length > 0 && { 'cognito:groups': [...subject.groups] }),
    auth_time: stamp.authTimeSeconds,
    iat: stamp.issuedAtSeconds,
    exp: stamp.issuedAtSeconds + TOKEN_LIFETIME_SECONDS,
    jti: stamp.jti,
  }
}
