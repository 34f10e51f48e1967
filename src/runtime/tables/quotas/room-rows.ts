import { sql } from 'kysely'

import type { Database, SiteTx } from '#platform/postgres/database.ts'
import { DEFAULT_TABLE_LIMITS } from '#runtime/revisions/limits.ts'

import type { Cost } from './cost.ts'
import type { Heard, Told } from './site-room.ts'

/** When a site was last counted, in milliseconds; null when it never was. */
export interface LastCount {
  readonly countedFrom: number | null
  readonly countedTo: number | null
  /** Whether nobody wrote meanwhile: then it was exact, else it may have said too much. */
  readonly countedAlone: boolean
}

export interface RoomAnswer extends Heard, LastCount {
  /** When a count is queued for; null when none is. */
  readonly recountAt: number | null
}

export interface UsageRow extends LastCount {
  readonly usedBytes: number
  readonly usedItems: number
  readonly changedAt: number | null
}

type Pair = readonly [bytes: number, items: number]

interface StoredAnswer {
  readonly granted: boolean
  readonly room: Pair
  readonly used: Pair
  readonly others: Pair
  readonly limits: Pair
  readonly epoch: number
  readonly counted_from: number | null
  readonly counted_to: number | null
  readonly counted_alone: boolean
  readonly recount_at: number | null
}

/** One round trip. Undefined when the site is gone. */
export async function exchangeRoom(
  database: Database,
  { siteId, holder, nowMs }: { siteId: string; holder: string; nowMs: number },
  told: Told,
): Promise<RoomAnswer | undefined> {
  const [row] = await database.statement<{ answer: string }>(
    `select to_json(e)::text as answer
     from table_room_exchange($1, $2, $3, $4, $5,
       $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[]) e`,
    [
      siteId,
      holder,
      nowMs,
      told.epoch,
      told.wrote,
      pair(told.gain),
      pair(told.loss),
      pair(told.kept),
      pair(told.asked),
      pair(told.wish),
      pair({ bytes: DEFAULT_TABLE_LIMITS.tableBytes, items: DEFAULT_TABLE_LIMITS.tableItems }),
    ],
  )
  if (row === undefined) return undefined
  // The function's own words.
  const answer = JSON.parse(row.answer) as StoredAnswer
  return {
    granted: answer.granted,
    room: cost(answer.room),
    used: cost(answer.used),
    others: cost(answer.others),
    limits: cost(answer.limits),
    epoch: answer.epoch,
    countedFrom: answer.counted_from,
    countedTo: answer.counted_to,
    countedAlone: answer.counted_alone,
    recountAt: answer.recount_at,
  }
}

export async function selectUsage(tx: SiteTx): Promise<UsageRow | undefined> {
  const { rows } = await sql<{
    used_bytes: string
    used_items: string
    changed_at: Date | null
    counted_from: Date | null
    counted_to: Date | null
    counted_alone: boolean
  }>`
    select used_bytes, used_items, changed_at, counted_from, counted_to, counted_alone
    from table_usage where site_id = ${tx.siteId}`.execute(tx.db)
  const [row] = rows
  return (
    row && {
      usedBytes: Number(row.used_bytes),
      usedItems: Number(row.used_items),
      changedAt: row.changed_at?.getTime() ?? null,
      countedFrom: row.counted_from?.getTime() ?? null,
      countedTo: row.counted_to?.getTime() ?? null,
      countedAlone: row.counted_alone,
    }
  )
}

/** For rows that went away without a writer who would tell. */
export async function markChanged(tx: SiteTx, now: Date): Promise<void> {
  await sql`update table_usage set changed_at = ${now} where site_id = ${tx.siteId}`.execute(tx.db)
}

/** False when a count is queued already and not overdue. */
export async function planRecount(
  tx: SiteTx,
  { at, lateBefore }: { readonly at: Date; readonly lateBefore: Date },
): Promise<boolean> {
  const { rows } = await sql`
    update table_usage set recount_at = ${at}
    where site_id = ${tx.siteId} and (recount_at is null or recount_at < ${lateBefore})
    returning site_id`.execute(tx.db)
  return rows.length > 0
}

export async function endPlan(tx: SiteTx): Promise<void> {
  await sql`update table_usage set recount_at = null where site_id = ${tx.siteId}`.execute(tx.db)
}

export async function beginCount(database: Database, siteId: string, nowMs: number): Promise<void> {
  await database.statement('select table_count_begin($1, $2)', [siteId, nowMs])
}

/** True when the count is done. */
export async function countSome(
  database: Database,
  siteId: string,
  { nowMs, most }: { readonly nowMs: number; readonly most: number },
): Promise<boolean> {
  const [row] = await database.statement<{ done: boolean }>(
    'select table_count_step($1, $2, $3) as done',
    [siteId, nowMs, most],
  )
  return row?.done ?? true
}

const pair = ({ bytes, items }: Cost): string => `{${Math.round(bytes)},${Math.round(items)}}`
const cost = ([bytes, items]: Pair): Cost => ({ bytes, items })
