import { type Static, Type } from '@sinclair/typebox'

import type { VerificationKey } from '#identity/keys/model.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import { adminBaseUrl, authBaseUrl, siteBaseUrl } from '#sites/base-url.ts'
import type { Site, SiteNames } from '#sites/site.ts'

import type { Client } from './client.ts'
import { isLoopback } from './registered-uri.ts'
import { SCOPES } from './scopes.ts'
import type { PoolSettings } from './settings.ts'

/** A pool as token checks see it: names, and keys that verify. */
export interface Pool {
  readonly kind: PoolKind
  /** To which its passkeys belong (WebAuthn): the site's domain, also where the pool is on a name below it. */
  readonly relyingPartyId: string
  /** Whose pages may sign in with them. */
  readonly passkeyOrigins: readonly string[]
  readonly userPoolId: string
  /** The default client, the only one whose tokens the API takes. */
  readonly clientId: string
  readonly issuer: string
  /** The current issuer, that of the console, and former ones: the tokens of all are valid. */
  readonly issuers: readonly string[]
  /** Where the site takes its tokens, and the pool's own application is. */
  readonly apiOrigin: string
  readonly settings: PoolSettings
  /** By client id. */
  readonly clients: ReadonlyMap<string, Client>
  /** The data pool has it when the operator has configured it. */
  readonly google: GoogleProvider | undefined
  readonly keys: ReadonlyMap<string, VerificationKey>
  /** Empty until its first key is made. */
  readonly signingKid: string
  /** Changes whenever issuer, client or keys do. */
  readonly version: string
}

/** What is public about a site's Google provider. */
export interface GoogleProvider {
  readonly issuer: string
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly enabled: boolean
}

export interface SitePools {
  readonly names: SiteNames
  readonly loadedAtMs: number
  readonly admin: Pool
  readonly data: Pool
  /** Each pool as it is on other names, by host: the data pool where visitors signed in before, the admin pool at the console. */
  readonly elsewhere: ReadonlyMap<string, Pool>
}

export const BootstrapConfig = Type.Object({
  siteId: Type.String(),
  siteDomain: Type.String(),
  region: Type.String(),
  api: Type.Object({ basePath: Type.String() }),
  auth: Type.Object({
    mode: Type.Literal('hosted'),
    userPoolId: Type.String(),
    clientId: Type.String(),
    issuer: Type.String(),
    domain: Type.String(),
    scope: Type.Array(Type.String()),
    redirectUri: Type.String(),
    logoutUri: Type.String(),
  }),
})
export type BootstrapConfig = Static<typeof BootstrapConfig>

const BasicDiscoveryFields = {
  enabled: Type.Boolean(),
  userPoolId: Type.String(),
  userPoolClientId: Type.String(),
  issuer: Type.String(),
  region: Type.String(),
}

/** What the public alias tells. */
export const BasicVisitorDiscovery = Type.Object(BasicDiscoveryFields)
export type BasicVisitorDiscovery = Static<typeof BasicVisitorDiscovery>

export const VisitorDiscovery = Type.Object({
  ...BasicDiscoveryFields,
  domain: Type.String(),
  providers: Type.Object({
    google: Type.Object({
      enabled: Type.Boolean(),
      identityProvider: Type.Literal('Google'),
      responseType: Type.Literal('code'),
      scopes: Type.Array(Type.String()),
    }),
  }),
  /** Where a site under development may return to, when the operator has registered such a place. */
  localhostDev: Type.Optional(
    Type.Object({
      enabled: Type.Literal(true),
      redirectUris: Type.Array(Type.String()),
      logoutUris: Type.Array(Type.String()),
    }),
  ),
})
export type VisitorDiscovery = Static<typeof VisitorDiscovery>

/** Where the application of a pool is: admins may have a name of their own. */
export const poolBaseUrl = (baseUrl: string, site: Site, kind: PoolKind): string =>
  kind === 'admin' ? adminBaseUrl(baseUrl, site) : siteBaseUrl(baseUrl, site.domain)

/** Where people of a pool sign in: each pool may have a name of its own. */
export const issuerBaseUrl = (baseUrl: string, site: Site, kind: PoolKind): string =>
  kind === 'admin' ? adminBaseUrl(baseUrl, site) : authBaseUrl(baseUrl, site)

/** The hosted sign-in lives under the issuer, so the issuer is also the sign-in's `domain`. */
export function bootstrapOf(baseUrl: string, site: Site, pool: Pool): BootstrapConfig {
  const base = adminBaseUrl(baseUrl, site)
  const client = pool.clients.get(pool.clientId)
  return {
    siteId: site.siteId,
    siteDomain: site.domain,
    region: site.region,
    api: { basePath: '/admin/api' },
    auth: {
      mode: 'hosted',
      userPoolId: pool.userPoolId,
      clientId: pool.clientId,
      issuer: pool.issuer,
      domain: pool.issuer,
      scope: [...SCOPES],
      redirectUri: client?.redirectUris[0] ?? base,
      logoutUri: client?.logoutUris[0] ?? base,
    },
  }
}

export const basicDiscoveryOf = (site: Site, pool: Pool): BasicVisitorDiscovery => ({
  enabled: true,
  userPoolId: pool.userPoolId,
  userPoolClientId: pool.clientId,
  issuer: pool.issuer,
  region: site.region,
})

export const discoveryOf = (site: Site, pool: Pool): VisitorDiscovery => ({
  ...basicDiscoveryOf(site, pool),
  domain: pool.issuer,
  providers: {
    google: {
      enabled: pool.google?.enabled ?? false,
      identityProvider: 'Google',
      responseType: 'code',
      scopes: [...(pool.google?.scopes ?? SCOPES)],
    },
  },
  ...localhostDevOf(pool.clients.get(pool.clientId)),
})

/** The site's own URIs, which come first, are no matter of development even where the site is called localhost. */
function localhostDevOf(client: Client | undefined): Pick<VisitorDiscovery, 'localhostDev'> {
  const redirectUris = client?.redirectUris.slice(1).filter(isLoopback) ?? []
  const logoutUris = client?.logoutUris.slice(1).filter(isLoopback) ?? []
  return redirectUris.length === 0
    ? {}
    : { localhostDev: { enabled: true, redirectUris, logoutUris } }
}
