import type { SiteTx } from '#platform/postgres/database.ts'

export interface StoredProvider {
  readonly issuer: string
  readonly clientId: string
  readonly scopes: unknown
  readonly enabled: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly sealedClientSecret: Buffer
}

/** Locked: what is left out of a change stays as it is at that moment. */
export function selectProviderForUpdate(
  tx: SiteTx,
  userPoolId: string,
  provider: 'Google',
): Promise<StoredProvider | undefined> {
  return providerRow(tx, userPoolId, provider).forUpdate().executeTakeFirst()
}

export function selectProvider(
  tx: SiteTx,
  userPoolId: string,
  provider: 'Google',
): Promise<StoredProvider | undefined> {
  return providerRow(tx, userPoolId, provider).executeTakeFirst()
}

const providerRow = (tx: SiteTx, userPoolId: string, provider: 'Google') =>
  tx.db
    .selectFrom('identity_provider')
    .select([
      'issuer',
      'client_id as clientId',
      'scopes',
      'enabled',
      'created_at as createdAt',
      'updated_at as updatedAt',
      'sealed_client_secret as sealedClientSecret',
    ])
    .where('site_id', '=', tx.siteId)
    .where('user_pool_id', '=', userPoolId)
    .where('provider', '=', provider)

export async function upsertProvider(
  tx: SiteTx,
  provider: {
    readonly userPoolId: string
    readonly provider: 'Google'
    readonly issuer: string
    readonly clientId: string
    readonly sealedClientSecret: Buffer
    readonly scopes: readonly string[]
    readonly enabled: boolean
  },
  now: Date,
): Promise<void> {
  const settings = {
    issuer: provider.issuer,
    client_id: provider.clientId,
    sealed_client_secret: provider.sealedClientSecret,
    scopes: JSON.stringify(provider.scopes),
    enabled: provider.enabled,
    updated_at: now,
  }
  await tx.db
    .insertInto('identity_provider')
    .values({
      site_id: tx.siteId,
      user_pool_id: provider.userPoolId,
      provider: provider.provider,
      ...settings,
      created_at: now,
    })
    .onConflict((on) => on.columns(['site_id', 'user_pool_id', 'provider']).doUpdateSet(settings))
    .execute()
}

export async function deleteProvider(
  tx: SiteTx,
  userPoolId: string,
  provider: 'Google',
): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('identity_provider')
    .where('site_id', '=', tx.siteId)
    .where('user_pool_id', '=', userPoolId)
    .where('provider', '=', provider)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
