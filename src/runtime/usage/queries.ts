import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { UsageCount, UsageRange, OperationUsage } from './model.ts'

const MAX_ROWS = 20_000

export async function addOperationUsage(
  tx: SiteTx,
  hour: Date,
  counts: ReadonlyMap<string, UsageCount>,
): Promise<void> {
  const rows = [...counts].map(([operation, count]) => ({
    site_id: tx.siteId,
    hour,
    operation,
    calls: String(count.calls),
    errors: String(count.errors),
    cache_hits: String(count.cacheHits),
    cpu_us: String(count.cpuUs),
    wall_us: String(count.wallUs),
  }))
  await tx.db
    .insertInto('runtime_usage')
    // Always in one order: two replicas that add to the same rows must not wait for each other in a circle.
    .values(rows.toSorted((a, b) => (a.operation < b.operation ? -1 : 1)))
    .onConflict((on) =>
      on.columns(['site_id', 'hour', 'operation']).doUpdateSet({
        calls: sql`runtime_usage.calls + excluded.calls`,
        errors: sql`runtime_usage.errors + excluded.errors`,
        cache_hits: sql`runtime_usage.cache_hits + excluded.cache_hits`,
        cpu_us: sql`runtime_usage.cpu_us + excluded.cpu_us`,
        wall_us: sql`runtime_usage.wall_us + excluded.wall_us`,
      }),
    )
    .execute()
}

/** Newest hour first. */
export async function selectOperationUsage(
  tx: SiteTx,
  range: UsageRange,
  operation: string | undefined,
): Promise<OperationUsage[]> {
  const rows = await tx.db
    .selectFrom('runtime_usage')
    .select(['hour', 'operation', 'calls', 'errors', 'cache_hits', 'cpu_us', 'wall_us'])
    .where('site_id', '=', tx.siteId)
    .where('hour', '>=', range.from)
    .where('hour', '<', range.to)
    .$if(operation !== undefined, (query) => query.where('operation', '=', operation ?? ''))
    .orderBy('hour', 'desc')
    .orderBy('operation')
    .limit(MAX_ROWS)
    .execute()
  return rows.map((row) => ({
    hour: row.hour.toISOString(),
    operation: row.operation,
    calls: Number(row.calls),
    errors: Number(row.errors),
    cacheHits: Number(row.cache_hits),
    cpuMs: Number(row.cpu_us) / 1000,
    wallMs: Number(row.wall_us) / 1000,
  }))
}

export async function deleteUsageBefore(tx: SiteTx, hour: Date): Promise<void> {
  await tx.db
    .deleteFrom('runtime_usage')
    .where('site_id', '=', tx.siteId)
    .where('hour', '<', hour)
    .execute()
}
