import { sql } from 'kysely'

import type { Database, SiteTx } from '#platform/postgres/database.ts'
import { query } from '#platform/postgres/query-text.ts'
import { DEFAULT_TABLE_LIMITS } from '#runtime/tables/table-limits.ts'

import type { Cost } from './cost.ts'
import type { QuotaGrant, QuotaReport } from './lease.ts'

/** The last count of a site that was finished; null when there is none. */
export interface LastRecount {
  readonly countTookMs: number | null
  readonly countedAgoMs: number | null
  /** Whether there was no other write: then it was exact, else it may have said too much. */
  readonly countedAlone: boolean
}

export interface LedgerAnswer extends QuotaGrant, LastRecount {
  /** Whether a count is queued, and not overdue. */
  readonly isPlanned: boolean
}

export interface TableUsageRow extends LastRecount {
  readonly usedBytes: number
  readonly usedItems: number
  /** Whether something was written since the last count began. */
  readonly isStale: boolean
}

type Pair = readonly [bytes: number, items: number]
type CostName = 'amount' | 'used' | 'others' | 'limits'
type StoredAnswer = Omit<LedgerAnswer, CostName> & Readonly<Record<CostName, Pair>>

/** One round trip. Undefined when the site is gone. */
export async function exchangeQuota(
  database: Database,
  { siteId, holder }: { readonly siteId: string; readonly holder: string },
  report: QuotaReport,
): Promise<LedgerAnswer | undefined> {
  const defaults = {
    bytes: DEFAULT_TABLE_LIMITS.tableBytes,
    items: DEFAULT_TABLE_LIMITS.tableItems,
  }
  const [row] = await database.statement<{ answer: string }>(
    ...query`select to_json(named)::text as answer from (
       select granted, room as amount, used, others, limits, epoch, count_took_ms as "countTookMs",
         counted_ago_ms as "countedAgoMs", counted_alone as "countedAlone", is_planned as "isPlanned"
       from table_room_exchange(${siteId}, ${holder}, ${report.epoch}, ${report.wrote},
         ${pair(report.gain)}::bigint[], ${pair(report.loss)}::bigint[], ${pair(report.held)}::bigint[],
         ${pair(report.requested)}::bigint[], ${pair(report.prefetch)}::bigint[],
         ${pair(defaults)}::bigint[])) named`,
  )
  if (row === undefined) return undefined
  // The statement's own names.
  const { amount, used, others, limits, ...rest } = JSON.parse(row.answer) as StoredAnswer
  return {
    ...rest,
    amount: cost(amount),
    used: cost(used),
    others: cost(others),
    limits: cost(limits),
  }
}

export async function selectTableUsage(tx: SiteTx): Promise<TableUsageRow | undefined> {
  const { rows } = await sql<TableUsageRow>`
    select used_bytes::float8 as "usedBytes", used_items::float8 as "usedItems",
           counted_alone as "countedAlone",
           changed_at is not null and coalesce(changed_at >= counted_from, true) as "isStale",
           (extract(epoch from counted_to - counted_from) * 1000)::float8 as "countTookMs",
           (extract(epoch from clock_timestamp() - counted_to) * 1000)::float8 as "countedAgoMs"
    from table_usage where site_id = ${tx.siteId}`.execute(tx.db)
  return rows[0]
}

/** For rows that went away without a writer who would tell. */
export async function markChanged(tx: SiteTx): Promise<void> {
  await sql`
    update table_usage set changed_at = clock_timestamp() where site_id = ${tx.siteId}`.execute(
    tx.db,
  )
}

/** False when a count is queued already. One that is an hour late is lost. */
export async function planRecount(tx: SiteTx, inSeconds: number): Promise<boolean> {
  const { rows } = await sql`
    update table_usage set recount_at = now() + ${inSeconds} * interval '1 second'
    where site_id = ${tx.siteId} and (recount_at is null or recount_at < now() - interval '1 hour')
    returning site_id`.execute(tx.db)
  return rows.length > 0
}

export async function endRecountPlan(tx: SiteTx): Promise<void> {
  await sql`update table_usage set recount_at = null where site_id = ${tx.siteId}`.execute(tx.db)
}

export async function beginCount(database: Database, siteId: string): Promise<void> {
  await database.statement('select table_count_begin($1)', [siteId])
}

/** True when the count is done. */
export async function countBatch(
  database: Database,
  siteId: string,
  most: number,
): Promise<boolean> {
  const [row] = await database.statement<{ done: boolean }>(
    'select table_count_step($1, $2) as done',
    [siteId, most],
  )
  return row?.done ?? true
}

const pair = ({ bytes, items }: Cost): string => `{${Math.round(bytes)},${Math.round(items)}}`
const cost = ([bytes, items]: Pair): Cost => ({ bytes, items })
