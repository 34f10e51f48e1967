import { sql } from 'kysely'

import type { PageRequest } from '#base/page.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { type Renaming, renameKey } from '#platform/postgres/rename-key.ts'

import type { Operation, OperationBinding } from './model.ts'

const COLUMNS = [
  'operation',
  'lambda_resource_id as lambdaResourceId',
  'preset',
  'auth',
  'cache_ttl_seconds as cacheTtlSeconds',
  'http',
  'input',
  'output',
  'version',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

export const selectOperations = (tx: SiteTx): Promise<Operation[]> =>
  operations(tx).orderBy('operation').execute()

export const selectOperationPage = (
  tx: SiteTx,
  { after, limit }: PageRequest,
): Promise<Operation[]> => {
  const all = operations(tx)
    .orderBy('operation')
    .limit(limit + 1)
  return (after === undefined ? all : all.where('operation', '>', after)).execute()
}

export const selectOperation = (tx: SiteTx, operation: string): Promise<Operation | undefined> =>
  operations(tx).where('operation', '=', operation).executeTakeFirst()

export async function selectOperationsOf(tx: SiteTx, resourceId: string): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('data_operation')
    .select('operation')
    .where('site_id', '=', tx.siteId)
    .where((where) =>
      where.or([
        where('lambda_resource_id', '=', resourceId),
        where(sql<string>`preset ->> 'resourceId'`, '=', resourceId),
      ]),
    )
    .orderBy('operation')
    .execute()
  return rows.map((row) => row.operation)
}

export async function selectOperationsForGroup(tx: SiteTx, groupName: string): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('data_operation')
    .select('operation')
    .where('site_id', '=', tx.siteId)
    .where(sql<boolean>`jsonb_exists(auth -> 'groups', ${groupName})`)
    .orderBy('operation')
    .execute()
  return rows.map((row) => row.operation)
}

/** Versions alone: they move without a new revision. */
export async function selectVersions(tx: SiteTx): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.db
    .selectFrom('data_operation')
    .select(['operation', 'version'])
    .where('site_id', '=', tx.siteId)
    .execute()
  return new Map(rows.map((row) => [row.operation, row.version]))
}

export async function countOperations(tx: SiteTx): Promise<number> {
  const { count } = await tx.db
    .selectFrom('data_operation')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('site_id', '=', tx.siteId)
    .executeTakeFirstOrThrow()
  return count
}

/** Bytes of JSON of the schemas of all operations but this one, roughly. */
export async function selectSchemaBytes(tx: SiteTx, except: string): Promise<number> {
  const { bytes } = await tx.db
    .selectFrom('data_operation')
    .select(
      sql<number>`coalesce(sum(coalesce(octet_length(input::text), 0) + coalesce(octet_length(output::text), 0)), 0)::int`.as(
        'bytes',
      ),
    )
    .where('site_id', '=', tx.siteId)
    .where('operation', '<>', except)
    .executeTakeFirstOrThrow()
  return bytes
}

/**
 * Overwriting makes a new version, which is also a new cache. The first version is the time, so that a name that was
 * deleted and comes back never meets the answers of its former life.
 */
export function upsertOperation(
  tx: SiteTx,
  binding: OperationBinding,
  now: Date,
): Promise<Operation> {
  const columns = {
    lambda_resource_id: binding.lambdaResourceId,
    preset: binding.preset === null ? null : JSON.stringify(binding.preset),
    auth: JSON.stringify(binding.auth),
    cache_ttl_seconds: binding.cacheTtlSeconds,
    http: binding.http,
    input: binding.input === null ? null : JSON.stringify(binding.input),
    output: binding.output === null ? null : JSON.stringify(binding.output),
    updated_at: now,
  }
  return tx.db
    .insertInto('data_operation')
    .values({
      site_id: tx.siteId,
      operation: binding.operation,
      created_at: now,
      ...columns,
      version: sql`(extract(epoch from now()) * 1000)::bigint`,
    })
    .onConflict((on) =>
      on
        .columns(['site_id', 'operation'])
        .doUpdateSet({ ...columns, version: sql`data_operation.version + 1` }),
    )
    .returning(COLUMNS)
    .$castTo<Operation>()
    .executeTakeFirstOrThrow()
}

export async function bumpVersion(tx: SiteTx, operation: string): Promise<string | undefined> {
  const row = await tx.db
    .updateTable('data_operation')
    .set({ version: sql`version + 1` })
    .where('site_id', '=', tx.siteId)
    .where('operation', '=', operation)
    .returning('version')
    .executeTakeFirst()
  return row?.version
}

const OPERATION_NAME = {
  table: 'data_operation',
  column: 'operation',
  referrers: [{ table: 'data_job', column: 'operation' }],
} as const

/** Under a version as a new one has it, with the jobs that call it. */
export async function renameOperation(tx: SiteTx, names: Renaming, now: Date): Promise<void> {
  await renameKey(tx, OPERATION_NAME, names)
  await tx.db
    .updateTable('data_operation')
    .set({
      version: sql`greatest(version + 1, (extract(epoch from now()) * 1000)::bigint)`,
      updated_at: now,
    })
    .where('site_id', '=', tx.siteId)
    .where('operation', '=', names.to)
    .execute()
}

/** In every operation that is for that group. */
export async function renameGroupOfOperations(tx: SiteTx, { from, to }: Renaming): Promise<void> {
  await sql`
    update data_operation
    set auth = jsonb_set(auth, '{groups}', (
      select jsonb_agg(case when name = ${from} then ${to}::text else name end order by place)
      from jsonb_array_elements_text(auth -> 'groups') with ordinality g (name, place)))
    where site_id = ${tx.siteId} and jsonb_exists(auth -> 'groups', ${from})`.execute(tx.db)
}

/** Returns what was deleted. */
export const deleteOperation = (tx: SiteTx, operation: string): Promise<Operation | undefined> =>
  tx.db
    .deleteFrom('data_operation')
    .where('site_id', '=', tx.siteId)
    .where('operation', '=', operation)
    .returning(COLUMNS)
    .$castTo<Operation>()
    .executeTakeFirst()

/** Only `parseOperation` makes what the columns `preset`, `auth`, `input` and `output` hold. */
const operations = (tx: SiteTx) =>
  tx.db
    .selectFrom('data_operation')
    .select(COLUMNS)
    .where('site_id', '=', tx.siteId)
    .$castTo<Operation>()
