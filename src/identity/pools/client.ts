import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { PoolKind } from '#identity/pool-kind.ts'

/** `link` exists only for adding a provider to an account that is signed in. */
export type ClientPurpose = 'default' | 'link'

/** `rfc9068` says `typ: at+jwt` and names the site's origin as `aud`, as resource servers of others expect. */
export const AccessTokenFormat = Type.Union([Type.Literal('cognito'), Type.Literal('rfc9068')])
export type AccessTokenFormat = Static<typeof AccessTokenFormat>

/** A public client of a pool: it proves itself with PKCE, and has no secret. */
export interface Client {
  readonly clientId: string
  readonly purpose: ClientPurpose
  /** Compared character by character; the first one is what the bootstrap tells. */
  readonly redirectUris: readonly string[]
  readonly logoutUris: readonly string[]
  /** Whether it may use Cognito's JSON API at the issuer. */
  readonly cognitoApi: boolean
  readonly accessTokenFormat: AccessTokenFormat
}

export interface ClientRow {
  readonly clientId: string
  readonly userPoolId: string
  readonly purpose: ClientPurpose
  readonly redirectUris: unknown
  readonly logoutUris: unknown
  readonly cognitoApi: boolean
  readonly accessTokenFormat: AccessTokenFormat
}

const Uris = Type.Array(Type.String())

/** Where each pool's own application is, on the site's own domain. */
const OWN_PATHS: Record<PoolKind, { readonly redirect: string; readonly logout: string }> = {
  admin: { redirect: '/admin/callback', logout: '/admin' },
  data: { redirect: '/auth/callback', logout: '/' },
}

export const clientFromRow = (siteBaseUrl: string, kind: PoolKind, row: ClientRow): Client => ({
  clientId: row.clientId,
  purpose: row.purpose,
  redirectUris: [
    `${siteBaseUrl}${OWN_PATHS[kind].redirect}`,
    ...Value.Parse(Uris, row.redirectUris),
  ],
  logoutUris: [`${siteBaseUrl}${OWN_PATHS[kind].logout}`, ...Value.Parse(Uris, row.logoutUris)],
  cognitoApi: row.cognitoApi,
  accessTokenFormat: row.accessTokenFormat,
})
