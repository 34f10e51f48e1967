import { type Static, Type } from '@sinclair/typebox'

import { ClosedObject } from '#base/closed-object.ts'
import { ONE_LINE } from '#base/one-line-text.ts'
import { PictureText } from '#base/picture.ts'
import { AccessTokenFormat } from '#identity/pools/client.ts'

export const MAX_CLIENTS = 50
const MAX_NAME_LENGTH = 100
const MAX_KEYS = 10
/** How long a secret stays valid beside its successor, unless a request says otherwise. */
export const FORMER_SECRET_HOURS = 24
const MAX_FORMER_SECRET_HOURS = 7 * 24

const Name = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  pattern: ONE_LINE,
  fault: `must be a name of 1 to ${MAX_NAME_LENGTH} characters, like "Acme Helpdesk"`,
})

const Uris = Type.Array(Type.String(), { maxItems: 20, uniqueItems: true })

const PrivacyUri = Type.String({
  maxLength: 2048,
  pattern: '^https://[^\\s\\u0000-\\u001f]+$',
  fault: 'must be an address that begins with https://',
})

/** RFC 7517: public keys alone. */
const PublicKeys = ClosedObject({
  keys: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    minItems: 1,
    maxItems: MAX_KEYS,
  }),
})
export type PublicKeys = Static<typeof PublicKeys>

const Authentication = Type.Union(
  [Type.Literal('none'), Type.Literal('client_secret'), Type.Literal('private_key_jwt')],
  { fault: 'must be none, client_secret or private_key_jwt' },
)

const Changeable = {
  name: Name,
  redirectUris: Type.Array(Type.String(), { minItems: 1, maxItems: 20, uniqueItems: true }),
  logoutUris: Type.Optional(Uris),
  /** It belongs to a third party: people are asked for consent. */
  isThirdParty: Type.Optional(Type.Boolean()),
  accessTokenFormat: Type.Optional(AccessTokenFormat),
  privacyUri: Type.Optional(Type.Union([PrivacyUri, Type.Null()])),
  logo: Type.Optional(Type.Union([PictureText, Type.Null()])),
  /** For `private_key_jwt`. */
  jwks: Type.Optional(PublicKeys),
}

export const ClientRegistration = ClosedObject({
  ...Changeable,
  pool: Type.Optional(Type.Union([Type.Literal('admin'), Type.Literal('data')])),
  /** `client_secret` when left out. */
  authentication: Type.Optional(Authentication),
})
export type ClientRegistration = Static<typeof ClientRegistration>

/** What is left out stays. How it authenticates cannot change: register another one, and remove this. */
export const ClientRegistrationChange = Type.Partial(ClosedObject(Changeable), {
  additionalProperties: false,
})
export type ClientRegistrationChange = Static<typeof ClientRegistrationChange>

export const SecretRotation = ClosedObject({
  /** 0 ends the former secret at once. */
  keepFormerHours: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_FORMER_SECRET_HOURS })),
})
export type SecretRotation = Static<typeof SecretRotation>

const OrNull = Type.Union([Type.String(), Type.Null()])

export const RegisteredClient = Type.Object(
  {
    clientId: Type.String(),
    pool: Type.Union([Type.Literal('admin'), Type.Literal('data')]),
    name: Type.String(),
    issuer: Type.String(),
    authentication: Authentication,
    redirectUris: Type.Array(Type.String()),
    logoutUris: Type.Array(Type.String()),
    isThirdParty: Type.Boolean(),
    accessTokenFormat: AccessTokenFormat,
    privacyUri: OrNull,
    hasLogo: Type.Boolean(),
    jwks: Type.Union([Type.Unknown(), Type.Null()]),
    /** When the secret before the newest ends; null where there is none. */
    formerSecretEndsAt: OrNull,
    createdAt: Type.String(),
    updatedAt: Type.String(),
  },
  { title: 'Client' },
)
export type RegisteredClient = Static<typeof RegisteredClient>

/** The secret is shown this once; null for a client without. */
export const NewlyRegisteredClient = Type.Composite(
  [RegisteredClient, Type.Object({ clientSecret: OrNull })],
  { title: 'CreatedClient' },
)
export type NewlyRegisteredClient = Static<typeof NewlyRegisteredClient>
