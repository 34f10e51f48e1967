import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { SyncState } from './model.ts'

const STATE = [
  'sync_status as status',
  'requested',
  'synced',
  'current_revision as currentRevision',
  'error',
] as const

type StateRow = Omit<SyncState, 'requested' | 'synced'> & Record<'requested' | 'synced', string>

/** Counts one change. Its row lock orders it against the sync: a revision has all of a change or nothing. */
export async function countChange(tx: SiteTx, now: Date): Promise<SyncState> {
  const row = await tx.db
    .insertInto('site_runtime')
    .values({ site_id: tx.siteId, sync_status: 'queued', updated_at: now })
    .onConflict((on) =>
      on.column('site_id').doUpdateSet({
        requested: sql`site_runtime.requested + 1`,
        sync_status: 'queued',
        updated_at: now,
      }),
    )
    .returning(STATE)
    .executeTakeFirstOrThrow()
  return toState(row)
}

/** For a site that was never provisioned. */
export async function insertState(tx: SiteTx, now: Date): Promise<void> {
  await tx.db
    .insertInto('site_runtime')
    .values({ site_id: tx.siteId, sync_status: 'queued', requested: '0', updated_at: now })
    .onConflict((on) => on.column('site_id').doNothing())
    .execute()
}

/** For a site whose first revision has all of it. */
export async function insertPublishedState(tx: SiteTx, revision: number, now: Date): Promise<void> {
  await tx.db
    .insertInto('site_runtime')
    .values({
      site_id: tx.siteId,
      sync_status: 'succeeded',
      requested: '1',
      synced: '1',
      current_revision: revision,
      updated_at: now,
    })
    .execute()
}

export async function selectState(tx: SiteTx): Promise<SyncState | undefined> {
  const row = await states(tx).executeTakeFirst()
  return row && toState(row)
}

/** Also keeps changes out until this transaction ends. */
export async function lockState(tx: SiteTx): Promise<SyncState | undefined> {
  const row = await states(tx).forUpdate().executeTakeFirst()
  return row && toState(row)
}

/** With `published` also what is current. */
export async function updateState(
  tx: SiteTx,
  change: Pick<SyncState, 'status' | 'error'>,
  now: Date,
  published?: { readonly revision: number; readonly synced: bigint },
): Promise<void> {
  await tx.db
    .updateTable('site_runtime')
    .set({ sync_status: change.status, error: change.error, updated_at: now })
    .$if(published !== undefined, (query) =>
      query.set({ current_revision: published?.revision, synced: String(published?.synced) }),
    )
    .where('site_id', '=', tx.siteId)
    .execute()
}

export async function insertRevision(
  tx: SiteTx,
  revision: number,
  document: object,
  now: Date,
): Promise<void> {
  await tx.db
    .insertInto('site_revision')
    .values({
      site_id: tx.siteId,
      revision,
      document: JSON.stringify(document),
      created_at: now,
    })
    .execute()
}

export async function selectLatestRevision(tx: SiteTx): Promise<number | undefined> {
  const row = await tx.db
    .selectFrom('site_revision')
    .select('revision')
    .where('site_id', '=', tx.siteId)
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.revision
}

/** Reads both tables at one moment: publishing a revision deletes the one before it. */
export async function selectCurrent(
  tx: SiteTx,
): Promise<{ readonly revision: number; readonly document: unknown } | undefined> {
  return tx.db
    .selectFrom('site_runtime as runtime')
    .innerJoin('site_revision as revision', (join) =>
      join
        .onRef('revision.site_id', '=', 'runtime.site_id')
        .onRef('revision.revision', '=', 'runtime.current_revision'),
    )
    .select(['revision.revision', 'revision.document'])
    .where('runtime.site_id', '=', tx.siteId)
    .executeTakeFirst()
}

export async function deleteRevisionsBefore(tx: SiteTx, revision: number): Promise<void> {
  await tx.db
    .deleteFrom('site_revision')
    .where('site_id', '=', tx.siteId)
    .where('revision', '<', revision)
    .execute()
}

const states = (tx: SiteTx) =>
  tx.db.selectFrom('site_runtime').select(STATE).where('site_id', '=', tx.siteId)

const toState = (row: StateRow): SyncState => ({
  ...row,
  requested: BigInt(row.requested),
  synced: BigInt(row.synced),
})
