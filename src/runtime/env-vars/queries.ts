import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { EnvVar } from './model.ts'

export type EnvVarRow = Omit<EnvVar, 'value'> & { readonly sealed: Buffer }

/** By name, in the order of their bytes; there are at most 200. */
export function selectEnvVars(tx: SiteTx): Promise<EnvVarRow[]> {
  return tx.db
    .selectFrom('env_var')
    .select([
      'name',
      'secret',
      'storage_backend as storageBackend',
      'sealed',
      'updated_at as updatedAt',
    ])
    .where('site_id', '=', tx.siteId)
    .orderBy(sql`name collate "C"`)
    .execute()
}

export async function upsertEnvVars(
  tx: SiteTx,
  rows: readonly Omit<EnvVarRow, 'updatedAt'>[],
  now: Date,
): Promise<void> {
  if (rows.length === 0) return
  await tx.db
    .insertInto('env_var')
    .values(
      rows.map(({ name, secret, storageBackend, sealed }) => ({
        site_id: tx.siteId,
        name,
        secret,
        storage_backend: storageBackend,
        sealed,
        created_at: now,
        updated_at: now,
      })),
    )
    .onConflict((on) =>
      on.columns(['site_id', 'name']).doUpdateSet((row) => ({
        secret: row.ref('excluded.secret'),
        storage_backend: row.ref('excluded.storage_backend'),
        sealed: row.ref('excluded.sealed'),
        updated_at: row.ref('excluded.updated_at'),
      })),
    )
    .execute()
}

export async function deleteEnvVars(tx: SiteTx, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await tx.db
    .deleteFrom('env_var')
    .where('site_id', '=', tx.siteId)
    .where('name', 'in', names)
    .execute()
}
