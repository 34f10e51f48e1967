import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { PoolKind } from '#identity/pool-kind.ts'

/** `link` exists only for adding a provider to an account that is signed in. */
export type StoredClientPurpose = 'default' | 'link'
/** `account` is the page on which people look after their account: part of the sign-in itself, which gets no code. */
export type ClientPurpose = StoredClientPurpose | 'account'

/** `rfc9068` says `typ: at+jwt` and names the site's origin as `aud`, as resource servers of others expect. */
export const AccessTokenFormat = Type.Union([Type.Literal('cognito'), Type.Literal('rfc9068')])
export type AccessTokenFormat = Static<typeof AccessTokenFormat>

/** A public client of a pool: it proves itself with PKCE, and has no secret. */
export interface Client<Purpose extends ClientPurpose = ClientPurpose> {
  readonly clientId: string
  readonly purpose: Purpose
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
  readonly purpose: StoredClientPurpose
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

/** No client of a pool has this id: they are 26 characters. */
export const ACCOUNT_CLIENT_ID = 'account'

/** Below the issuer: where a sign-in for the account may lead. */
const ACCOUNT_PAGES = [
  'account',
  'account/name',
  'account/address',
  'account/password',
  'account/totp',
  'account/passkey',
  'account/delete',
] as const
export type AccountPage = (typeof ACCOUNT_PAGES)[number]

/** The client that every pool has without storing it. */
export const accountClient = (issuer: string): Client => ({
  clientId: ACCOUNT_CLIENT_ID,
  purpose: 'account',
  redirectUris: ACCOUNT_PAGES.map((page) => `${issuer}/${page}`),
  logoutUris: [`${issuer}/account`],
  cognitoApi: false,
  accessTokenFormat: 'cognito',
})

export const clientFromRow = (
  siteBaseUrl: string,
  kind: PoolKind,
  row: ClientRow,
): Client<StoredClientPurpose> => ({
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
