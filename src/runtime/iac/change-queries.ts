import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'
import type { Change } from '#runtime/definitions/plan.ts'

import type { ChangeStatus, IacChange } from './model.ts'

/** Rows of one statement: well under Postgres's bound on parameters. */
const ROWS_AT_ONCE = 1000

/** Said in the statement: only then a prepared one is known to be what the index of pending changes is for. */
const PENDING = sql.lit<ChangeStatus>('pending')

const COLUMNS = [
  'position',
  'section',
  'name',
  'action',
  'fields',
  'status',
  'error',
  'renamed_from as renamedFrom',
] as const

/** Inserts the changes in their order, from position 0 on. */
export async function insertChanges(
  tx: SiteTx,
  number: string,
  changes: readonly (Change & { readonly status: ChangeStatus })[],
): Promise<void> {
  const rows = changes.map((change, position) => ({
    site_id: tx.siteId,
    job_number: number,
    position,
    section: change.section,
    name: change.name,
    action: change.action,
    fields: [...change.fields],
    status: change.status,
    error: null,
    renamed_from: change.renamedFrom,
  }))
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    await tx.db
      .insertInto('iac_change')
      .values(rows.slice(from, from + ROWS_AT_ONCE))
      .execute()
  }
}

export const selectChanges = (tx: SiteTx, number: string): Promise<IacChange[]> =>
  changesOf(tx, number).select(COLUMNS).orderBy('position').execute()

export async function hasChanges(
  tx: SiteTx,
  number: string,
  status?: ChangeStatus,
): Promise<boolean> {
  const row = await changesOf(tx, number)
    .select('position')
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'pending'))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The first of those that are pending, in their order. */
export const selectPending = (tx: SiteTx, number: string, limit: number): Promise<IacChange[]> =>
  changesOf(tx, number)
    .select(COLUMNS)
    .where('status', '=', PENDING)
    .orderBy('position')
    .limit(limit)
    .execute()

/** Names of a section that are still to be deleted. */
export async function selectNamesToDelete(
  tx: SiteTx,
  number: string,
  section: Change['section'],
): Promise<ReadonlySet<string>> {
  const rows = await changesOf(tx, number)
    .select('name')
    .where('section', '=', section)
    .where('action', '=', 'delete')
    .where('status', '=', PENDING)
    .execute()
  return new Set(rows.map(({ name }) => name))
}

/** Writes how a pending change ended; returns false when it was not pending any more. */
export async function updateChangeResult(
  tx: SiteTx,
  number: string,
  settled: Pick<IacChange, 'position' | 'action' | 'status' | 'error'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('iac_change')
    .set({ action: settled.action, status: settled.status, error: settled.error })
    .where('site_id', '=', tx.siteId)
    .where('job_number', '=', number)
    .where('position', '=', settled.position)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function skipPending(tx: SiteTx, number: string): Promise<void> {
  await tx.db
    .updateTable('iac_change')
    .set({ status: 'skipped' })
    .where('site_id', '=', tx.siteId)
    .where('job_number', '=', number)
    .where('status', '=', 'pending')
    .execute()
}

const changesOf = (tx: SiteTx, number: string) =>
  tx.db.selectFrom('iac_change').where('site_id', '=', tx.siteId).where('job_number', '=', number)
