import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import { type LogFilter, type LogRecord, type NewLogLine, atLeastLevel } from './model.ts'

const COLUMNS = [
  'log_id as logId',
  'at',
  'level',
  'kind',
  'operation',
  'request_id as requestId',
  'message',
  'fields',
] as const

/** Makes a site's batches commit in the order of their ids, so that a reader who follows the ids misses none. */
export async function lockLog(tx: SiteTx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('runtime_log'), hashtext(${tx.siteId}))`.execute(
    tx.db,
  )
}

/** Gives back the highest id. */
export async function insertLines(tx: SiteTx, lines: readonly NewLogLine[]): Promise<string> {
  const rows = await tx.db
    .insertInto('runtime_log')
    .values(
      lines.map((line) => ({
        site_id: tx.siteId,
        at: line.at,
        level: line.level,
        kind: line.kind,
        operation: line.operation,
        request_id: line.requestId,
        message: line.message,
        fields: line.fields === null ? null : JSON.stringify(line.fields),
      })),
    )
    .returning('log_id')
    .execute()
  return rows
    .map((row) => BigInt(row.log_id))
    .reduce((a, b) => (a > b ? a : b), 0n)
    .toString()
}

/** Newest first. `before` is the id of the last line already seen. */
export async function selectNewest(
  tx: SiteTx,
  filter: LogFilter,
  page: { readonly limit: number; readonly before: string | undefined },
): Promise<LogRecord[]> {
  const rows = await filtered(tx, filter)
    .$if(page.before !== undefined, (query) => query.where('log_id', '<', page.before ?? ''))
    .orderBy('log_id', 'desc')
    .limit(page.limit)
    .execute()
  return rows.map(toRecord)
}

/** Oldest first, for those who follow. */
export async function selectAfter(
  tx: SiteTx,
  filter: LogFilter,
  page: { readonly limit: number; readonly after: string },
): Promise<LogRecord[]> {
  const rows = await filtered(tx, filter)
    .where('log_id', '>', page.after)
    .orderBy('log_id')
    .limit(page.limit)
    .execute()
  return rows.map(toRecord)
}

export async function selectLastId(tx: SiteTx): Promise<string> {
  const row = await tx.db
    .selectFrom('runtime_log')
    .select('log_id')
    .where('site_id', '=', tx.siteId)
    .orderBy('log_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.log_id ?? '0'
}

/** Takes away at most `batch` lines that are too old or too many, the oldest first. */
export async function deleteOldest(
  tx: SiteTx,
  bounds: { readonly before: Date; readonly kept: number; readonly batch: number },
): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('runtime_log')
    .where('site_id', '=', tx.siteId)
    .where('log_id', 'in', (from) =>
      from
        .selectFrom('runtime_log')
        .select('log_id')
        .where('site_id', '=', tx.siteId)
        .where((where) =>
          where.or([
            where('at', '<', bounds.before),
            where('log_id', '<', (oldest) =>
              oldest
                .selectFrom((newest) =>
                  newest
                    .selectFrom('runtime_log')
                    .select('log_id')
                    .where('site_id', '=', tx.siteId)
                    .orderBy('log_id', 'desc')
                    .limit(bounds.kept)
                    .as('kept'),
                )
                .select((row) => row.fn.min('kept.log_id').as('oldest')),
            ),
          ]),
        )
        .orderBy('log_id')
        .limit(bounds.batch),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

function filtered(tx: SiteTx, filter: LogFilter) {
  const { operation, level, requestId, since, until } = filter
  return tx.db
    .selectFrom('runtime_log')
    .select(COLUMNS)
    .where('site_id', '=', tx.siteId)
    .$if(operation !== undefined, (query) => query.where('operation', '=', operation ?? ''))
    .$if(requestId !== undefined, (query) => query.where('request_id', '=', requestId ?? ''))
    .$if(level !== undefined, (query) =>
      query.where('level', 'in', [...atLeastLevel(level ?? 'debug')]),
    )
    .$if(since !== undefined, (query) => query.where('at', '>=', since ?? new Date(0)))
    .$if(until !== undefined, (query) => query.where('at', '<', until ?? new Date(0)))
}

const toRecord = ({
  logId,
  at,
  fields,
  ...row
}: Omit<LogRecord, 'at'> & { readonly at: Date }): LogRecord => ({
  logId,
  at: at.toISOString(),
  ...row,
  ...(fields === null ? {} : { fields }),
})
