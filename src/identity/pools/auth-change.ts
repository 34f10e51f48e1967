import { type Static, Type } from '@sinclair/typebox'

import { AppError, type FieldFault, invalid } from '#base/app-error.ts'
import { POOL_KINDS, type PoolKind } from '#identity/pool-kind.ts'

import { AccessTokenFormat } from './client.ts'
import { uriFault } from './registered-uri.ts'
import { RESERVED_SCOPES } from './scopes.ts'
import { PoolSettings, PoolSettingsInput } from './settings.ts'

const closed = { additionalProperties: false }

const Uris = Type.Array(Type.String(), { maxItems: 20, uniqueItems: true })
/** The only value that the admin pool takes. */
const never = (why: string) => Type.Optional(Type.Literal(false, { fault: `stays false: ${why}` }))

/** A list takes the place of the former one. The URIs on the site's own domain are always there, named or not. */
const ClientChange = Type.Object(
  {
    redirectUris: Type.Optional(Uris),
    logoutUris: Type.Optional(Uris),
    cognitoApi: Type.Optional(Type.Boolean()),
    accessTokenFormat: Type.Optional(AccessTokenFormat),
  },
  closed,
)
export type ClientChange = Static<typeof ClientChange>

const AdminPoolChange = Type.Object(
  {
    passwordPolicy: PoolSettingsInput.properties.passwordPolicy,
    selfSignUp: never('users of the admin pool are invited'),
    linkVerifiedAddresses: never('no user joins the admin pool through a provider'),
    sessionIdleMinutes: PoolSettingsInput.properties.sessionIdleMinutes,
    maxSessions: PoolSettingsInput.properties.maxSessions,
    requireSecondFactor: PoolSettingsInput.properties.requireSecondFactor,
    clients: Type.Optional(Type.Object({ default: Type.Optional(ClientChange) }, closed)),
  },
  closed,
)

const DataPoolChange = Type.Object(
  {
    ...PoolSettingsInput.properties,
    clients: Type.Optional(
      Type.Object(
        {
          default: Type.Optional(ClientChange),
          link: Type.Optional(Type.Pick(ClientChange, ['redirectUris'], closed)),
        },
        closed,
      ),
    ),
  },
  closed,
)

/** What the operator changes about a site's sign-in; what is left out stays. */
export const AuthChange = Type.Object(
  { admin: Type.Optional(AdminPoolChange), data: Type.Optional(DataPoolChange) },
  closed,
)
export type AuthChange = Static<typeof AuthChange>

/** The change of one pool, whichever it is. */
export type PoolChange = Static<typeof DataPoolChange>

const ClientView = Type.Object({
  clientId: Type.String(),
  /** The first one is on the site's own domain, and follows it. */
  redirectUris: Type.Array(Type.String()),
  logoutUris: Type.Array(Type.String()),
  cognitoApi: Type.Boolean(),
  accessTokenFormat: AccessTokenFormat,
})

export type ClientView = Static<typeof ClientView>

const PoolView = Type.Object({
  userPoolId: Type.String(),
  issuer: Type.String(),
  ...PoolSettings.properties,
  clients: Type.Object({ default: ClientView, link: Type.Optional(ClientView) }),
})
export type PoolView = Static<typeof PoolView>

export const AuthView = Type.Object({ admin: PoolView, data: PoolView }, { title: 'AuthSettings' })
export type AuthView = Static<typeof AuthView>

/** Throws `ValidationError` for a scope whose name has a meaning already. */
export function checkScopes({ data }: AuthChange): void {
  const taken = Object.keys(data?.scopes ?? {}).find((name) => RESERVED_SCOPES.includes(name))
  if (taken !== undefined) throw invalid(`data.scopes.${taken}`, 'has a meaning already')
}

/** Throws `ValidationError` with every URI that no client may have. */
export function checkUris(change: AuthChange, baseOf: (kind: PoolKind) => string): void {
  const faults = POOL_KINDS.flatMap((kind) =>
    poolFaults(kind, change[kind] ?? {}, new URL(baseOf(kind)).origin),
  )
  const [first] = faults
  if (!first) return
  throw new AppError('ValidationError', `${first.field}: ${first.message}`, { details: faults })
}

function poolFaults(pool: string, { clients = {} }: PoolChange, ownOrigin: string): FieldFault[] {
  return Object.entries<ClientChange>(clients).flatMap(([purpose, client]) =>
    (['redirectUris', 'logoutUris'] as const).flatMap((list) =>
      (client[list] ?? []).flatMap((uri, at) => {
        const message = uriFault(uri, ownOrigin)
        const field = `${pool}.clients.${purpose}.${list}[${at}]`
        return message === undefined ? [] : [{ field, message }]
      }),
    ),
  )
}
