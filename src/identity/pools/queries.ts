import { sql } from 'kysely'

import type { PoolKind } from '#identity/pool-kind.ts'
import { inPool } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { Client, ClientRow, StoredClientPurpose } from './client.ts'
import type { PoolSettingsInput } from './settings.ts'

export interface NewPool {
  readonly kind: PoolKind
  readonly userPoolId: string
  readonly clientId: string
}

export interface PoolRow {
  readonly kind: PoolKind
  readonly userPoolId: string
  readonly settings: unknown
}

export interface ProviderRow {
  readonly userPoolId: string
  readonly issuer: string
  readonly clientId: string
  readonly scopes: unknown
  readonly enabled: boolean
}

export async function insertPools(tx: SiteTx, pools: readonly NewPool[], now: Date): Promise<void> {
  await tx.db
    .insertInto('user_pool')
    .values(
      pools.map(({ userPoolId, kind }) => ({
        site_id: tx.siteId,
        user_pool_id: userPoolId,
        kind,
        created_at: now,
      })),
    )
    .execute()
}

export async function insertClients(
  tx: SiteTx,
  clients: readonly {
    readonly clientId: string
    readonly userPoolId: string
    readonly purpose: StoredClientPurpose
  }[],
  now: Date,
): Promise<void> {
  await tx.db
    .insertInto('pool_client')
    .values(
      clients.map(({ clientId, userPoolId, purpose }) => ({
        site_id: tx.siteId,
        client_id: clientId,
        user_pool_id: userPoolId,
        purpose,
        created_at: now,
      })),
    )
    .execute()
}

const pools = ({ db, siteId }: SiteTx) =>
  db
    .selectFrom('user_pool')
    .select(['kind', 'user_pool_id as userPoolId', 'settings'])
    .where('site_id', '=', siteId)

export const selectPools = (tx: SiteTx): Promise<PoolRow[]> => pools(tx).execute()

export function selectClients(tx: SiteTx): Promise<ClientRow[]> {
  return tx.db
    .selectFrom('pool_client')
    .select([
      'client_id as clientId',
      'user_pool_id as userPoolId',
      'purpose',
      'redirect_uris as redirectUris',
      'logout_uris as logoutUris',
      'cognito_api as cognitoApi',
      'access_token_format as accessTokenFormat',
      'name',
      'privacy_uri as privacyUri',
      // Reads no picture: it would be read whenever a site's clients are.
      sql<
        string | null
      >`case when logo is not null then (extract(epoch from updated_at) * 1000000)::bigint::text end`.as(
        'logoVersion',
      ),
      'is_third_party as isThirdParty',
      'authentication',
      'secret_hash as secretHash',
      'former_secret_hash as formerSecretHash',
      'former_secret_ends_at as formerSecretEndsAt',
      'jwks',
    ])
    .where('site_id', '=', tx.siteId)
    .execute()
}

/** Settings change one request at a time. */
export const lockPools = (tx: SiteTx): Promise<PoolRow[]> =>
  pools(tx).orderBy('kind').forNoKeyUpdate().execute()

export async function updatePoolSettings(
  tx: SiteTx,
  userPoolId: string,
  settings: PoolSettingsInput,
): Promise<void> {
  await tx.db
    .updateTable('user_pool')
    .set({ settings: JSON.stringify(settings) })
    .where(inPool(tx, userPoolId))
    .execute()
}

export async function updateClient(
  tx: SiteTx,
  clientId: string,
  client: Pick<Client, 'redirectUris' | 'logoutUris' | 'cognitoApi' | 'accessTokenFormat'>,
): Promise<void> {
  await tx.db
    .updateTable('pool_client')
    .set({
      redirect_uris: JSON.stringify(client.redirectUris),
      logout_uris: JSON.stringify(client.logoutUris),
      cognito_api: client.cognitoApi,
      access_token_format: client.accessTokenFormat,
    })
    .where('site_id', '=', tx.siteId)
    .where('client_id', '=', clientId)
    .execute()
}

/** Without the secret. */
export function selectProviders(tx: SiteTx): Promise<ProviderRow[]> {
  return tx.db
    .selectFrom('identity_provider')
    .select(['user_pool_id as userPoolId', 'issuer', 'client_id as clientId', 'scopes', 'enabled'])
    .where('site_id', '=', tx.siteId)
    .where('provider', '=', 'Google')
    .execute()
}
