import type { SiteTx } from '#platform/postgres/database.ts'

import type { PoolKind } from './model.ts'

export interface PoolRow {
  readonly kind: PoolKind
  readonly userPoolId: string
  readonly clientId: string
}

export async function insertPool(tx: SiteTx, pool: PoolRow, now: Date): Promise<void> {
  await tx.db
    .insertInto('user_pool')
    .values({
      site_id: tx.siteId,
      user_pool_id: pool.userPoolId,
      kind: pool.kind,
      created_at: now,
    })
    .execute()
}

export async function insertDefaultClient(tx: SiteTx, pool: PoolRow, now: Date): Promise<void> {
  await tx.db
    .insertInto('pool_client')
    .values({
      site_id: tx.siteId,
      client_id: pool.clientId,
      user_pool_id: pool.userPoolId,
      purpose: 'default',
      created_at: now,
    })
    .execute()
}

export function selectPools(tx: SiteTx): Promise<PoolRow[]> {
  return tx.db
    .selectFrom('user_pool')
    .innerJoin('pool_client', (join) =>
      join
        .onRef('pool_client.site_id', '=', 'user_pool.site_id')
        .onRef('pool_client.user_pool_id', '=', 'user_pool.user_pool_id')
        .on('pool_client.purpose', '=', 'default'),
    )
    .select([
      'user_pool.kind as kind',
      'user_pool.user_pool_id as userPoolId',
      'pool_client.client_id as clientId',
    ])
    .where('user_pool.site_id', '=', tx.siteId)
    .execute()
}
