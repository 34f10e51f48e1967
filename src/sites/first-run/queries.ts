import { sql } from 'kysely'

import type { Tx } from '#platform/postgres/database.ts'

const FACT = 'first-run'
/** The advisory lock's number, which nothing else in the database uses. */
const LOCK = 7_205_119_004

/** How far the first run came, as the table `instance` keeps it. */
export interface FirstRunProgress {
  readonly state: 'started' | 'done'
  /** The domain of the site that it creates. */
  readonly domain: string
}

/** Takes the lock until the transaction ends, also by the death of this process. Returns false when another replica has it. */
export async function tryLockFirstRun(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${LOCK}) as locked
  `.execute(tx.db)
  return rows[0]?.locked === true
}

export async function selectProgress(tx: Tx): Promise<FirstRunProgress | undefined> {
  const row = await tx.db
    .selectFrom('instance')
    .select('value')
    .where('name', '=', FACT)
    .executeTakeFirst()
  return row && parseProgress(row.value)
}

export async function saveProgress(tx: Tx, progress: FirstRunProgress): Promise<void> {
  const value = JSON.stringify(progress)
  await tx.db
    .insertInto('instance')
    .values({ name: FACT, value })
    .onConflict((on) => on.column('name').doUpdateSet({ value }))
    .execute()
}

function parseProgress(value: unknown): FirstRunProgress {
  const state: unknown = typeof value === 'object' && value !== null && Reflect.get(value, 'state')
  const domain: unknown = typeof value === 'object' && value && Reflect.get(value, 'domain')
  return {
    state: state === 'started' ? 'started' : 'done',
    domain: typeof domain === 'string' ? domain : '',
  }
}
