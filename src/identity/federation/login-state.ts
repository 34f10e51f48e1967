import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

export const LOGIN_LIFETIME_MS = 10 * 60_000

/** Who adds a provider to their account, and by which token they asked for it. */
export const LinkingUser = Type.Object({
  sub: Type.String(),
  familyId: Type.Optional(Type.String()),
  askedAtSeconds: Type.Number(),
})
export type LinkingUser = Static<typeof LinkingUser>

/** What a visit to a provider must come back to. At rest it is sealed. */
export const LoginState = Type.Object({
  /** SHA-256 of the secret in the browser's cookie, base64url. */
  bindingHash: Type.String(),
  /** The client's request, in its canonical form. */
  query: Type.String(),
  /** Of the provider when the browser left: an answer of another one is not the answer to this visit. */
  issuer: Type.String(),
  clientId: Type.String(),
  answersNameIssuer: Type.Boolean(),
  nonce: Type.String(),
  verifier: Type.String(),
  /** What the client's `prompt=login` or `max_age` demand of the provider's `auth_time`. */
  authenticatedAfterSeconds: Type.Optional(Type.Number()),
  linker: Type.Optional(LinkingUser),
})
export type LoginState = Static<typeof LoginState>

export const serializeLoginState = (visit: LoginState): Buffer => Buffer.from(JSON.stringify(visit))

export function parseLoginState(text: Uint8Array): LoginState {
  const value: unknown = JSON.parse(Buffer.from(text).toString('utf8'))
  return Value.Parse(LoginState, value)
}
