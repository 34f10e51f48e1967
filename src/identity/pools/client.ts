import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { JSONWebKeySet } from 'jose'

import type { PoolKind } from '#identity/pool-kind.ts'

/** `link` exists only for adding a provider to an account that is signed in. */
type OwnClientPurpose = 'default' | 'link'
/** `registered` ones are applications beside the site's own. */
export type StoredClientPurpose = OwnClientPurpose | 'registered'
/** `account` is the page on which people look after their account: part of the sign-in itself, which gets no code. */
export type ClientPurpose = StoredClientPurpose | 'account'

/** `rfc9068` says `typ: at+jwt` and names the site's origin as `aud`, as resource servers of others expect. */
export const AccessTokenFormat = Type.Union([Type.Literal('cognito'), Type.Literal('rfc9068')])
export type AccessTokenFormat = Static<typeof AccessTokenFormat>

/** `none` is a public client, which proves with PKCE that it is the one that asked. */
export type ClientAuthMethod = 'none' | 'client_secret' | 'private_key_jwt'

/** What a client proves itself with at the token endpoint. */
export interface ClientProofs {
  readonly authentication: ClientAuthMethod
  /** SHA-256 of each secret that is good until it ends. */
  readonly secrets: readonly { readonly hash: Buffer; readonly endsAt: Date | null }[]
  /** Public keys; undefined for a client without. */
  readonly jwks: JSONWebKeySet | undefined
}

/** What the pages show of an application beside the site's own. */
interface Application {
  readonly name: string
  /** Where it says what it does with people's data. */
  readonly privacyUri: string | undefined
  /** Changes with its logo; undefined where it has none. */
  readonly logoVersion: string | undefined
  /** A third party's: people are asked before it learns anything, and its tokens open nothing of the site's own. */
  readonly isThirdParty: boolean
}

/** A client of a pool. */
export interface Client<Purpose extends ClientPurpose = ClientPurpose> {
  readonly clientId: string
  readonly purpose: Purpose
  /** Compared character by character; the first one is what the bootstrap tells. */
  readonly redirectUris: readonly string[]
  readonly logoutUris: readonly string[]
  /** Whether it may use Cognito's JSON API at the issuer. */
  readonly cognitoApi: boolean
  readonly accessTokenFormat: AccessTokenFormat
  readonly proofs: ClientProofs
  /** Undefined for the site's own. */
  readonly application: Application | undefined
}

export interface ClientRow {
  readonly clientId: string
  readonly userPoolId: string
  readonly purpose: StoredClientPurpose
  readonly redirectUris: unknown
  readonly logoutUris: unknown
  readonly cognitoApi: boolean
  readonly accessTokenFormat: AccessTokenFormat
  readonly name: string | null
  readonly privacyUri: string | null
  readonly logoVersion: string | null
  readonly isThirdParty: boolean
  readonly authentication: ClientAuthMethod
  readonly secretHash: Buffer | null
  readonly formerSecretHash: Buffer | null
  readonly formerSecretEndsAt: Date | null
  readonly jwks: unknown
}

/** Of a client that has PKCE alone. */
export const PUBLIC: ClientProofs = { authentication: 'none', secrets: [], jwks: undefined }

const Uris = Type.Array(Type.String())
const KeySet = Type.Object({
  keys: Type.Array(
    Type.Intersect([
      Type.Object({ kty: Type.String() }),
      Type.Record(Type.String(), Type.Unknown()),
    ]),
  ),
})

/** Where each pool's own application is, on the site's own domain. */
const OWN_PATHS: Record<PoolKind, { readonly redirect: string; readonly logout: string }> = {
  admin: { redirect: '/admin/callback', logout: '/admin' },
  data: { redirect: '/auth/callback', logout: '/' },
}

/** Where the console is on its own origin. */
const CONSOLE_PATHS = { redirect: '/signed-in', logout: '/' }

/** No client of a pool has this id: they are 26 characters. */
export const ACCOUNT_CLIENT_ID = 'account'

/** Below the issuer: where a sign-in for the account may lead. */
const ACCOUNT_PAGES = [
  'account',
  'account/name',
  'account/address',
  'account/password',
  'account/totp',
  'account/totp/remove',
  'account/recovery-codes',
  'account/passkey',
  'account/passkey/remove',
  'account/google',
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
  proofs: PUBLIC,
  application: undefined,
})

/** The default client of the admin pool, which the console is at that origin; every other client as it is. */
export const withConsole = (client: Client, origin: string): Client =>
  client.purpose === 'default'
    ? {
        ...client,
        redirectUris: [...client.redirectUris, origin + CONSOLE_PATHS.redirect],
        logoutUris: [...client.logoutUris, origin + CONSOLE_PATHS.logout],
      }
    : client

export function clientFromRow(
  siteBaseUrl: string,
  kind: PoolKind,
  row: ClientRow,
): Client<StoredClientPurpose> {
  const own = OWN_PATHS[kind]
  const ownUri = (path: string) => (row.purpose === 'registered' ? [] : [`${siteBaseUrl}${path}`])
  return {
    clientId: row.clientId,
    purpose: row.purpose,
    redirectUris: [...ownUri(own.redirect), ...Value.Parse(Uris, row.redirectUris)],
    logoutUris: [...ownUri(own.logout), ...Value.Parse(Uris, row.logoutUris)],
    cognitoApi: row.cognitoApi,
    accessTokenFormat: row.accessTokenFormat,
    proofs: proofsOf(row),
    application: applicationOf(row),
  }
}

function proofsOf(row: ClientRow): ClientProofs {
  const { authentication, secretHash, formerSecretHash, formerSecretEndsAt } = row
  const secrets = [
    ...(secretHash === null ? [] : [{ hash: secretHash, endsAt: null }]),
    ...(formerSecretHash === null ? [] : [{ hash: formerSecretHash, endsAt: formerSecretEndsAt }]),
  ]
  const jwks = row.jwks === null ? undefined : Value.Parse(KeySet, row.jwks)
  return { authentication, secrets, jwks }
}

const applicationOf = (row: ClientRow): Application | undefined =>
  row.name === null
    ? undefined
    : {
        name: row.name,
        privacyUri: row.privacyUri ?? undefined,
        logoVersion: row.logoVersion ?? undefined,
        isThirdParty: row.isThirdParty,
      }
