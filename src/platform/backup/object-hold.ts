import { setTimeout as delay } from 'node:timers/promises'

import { SetupError } from '#config/setup-error.ts'
import { keptKey } from '#platform/objects/kept-objects.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { SqlClient } from '#platform/postgres/client.ts'

import {
  deleteHold,
  expireHold,
  insertHold,
  renewHold,
  selectExpiredHolds,
  selectKeptKeys,
} from './hold-queries.ts'
import { selectClockTime } from './installation-queries.ts'
import { Lease } from './lease.ts'

const RENEW_MS = 10_000
const LIFETIME_SECONDS = 60
/** How long until every process of the service knows of an announcement: it asks anew after a second. */
const SETTLE_MS = 3000

export interface HoldDeps {
  readonly sql: SqlClient
  readonly objects: Pick<ObjectStore, 'delete'>
}

export interface ObjectHold {
  /** By the database's clock. */
  readonly moment: Date
  readonly lease: Lease
}

/**
 * From the moment on that this gives, no object goes that is there: it is kept beside for this backup, until the lease is disposed.
 * All processes learn of that moment before it comes: what one of them kept earlier would be older than the moment, and in the way of what
 * is of it. Resolves when it has come.
 */
export async function holdObjects(deps: HoldDeps, holdId: string): Promise<ObjectHold> {
  const { sql } = deps
  // What backups have left that were killed.
  for (const expired of await selectExpiredHolds(sql)) await remove(deps, expired)
  const moment = await insertHold(sql, holdId, {
    beginsInMs: SETTLE_MS,
    lifetimeSeconds: LIFETIME_SECONDS,
  })
  const lease = new Lease({
    everyMs: RENEW_MS,
    renew: async () => {
      if (!(await renewHold(sql, holdId, LIFETIME_SECONDS))) throw lost()
    },
    release: () => remove(deps, holdId),
  })
  try {
    await until(sql, moment)
  } catch (error) {
    await lease[Symbol.asyncDispose]()
    throw error
  }
  return { moment, lease }
}

async function until(sql: SqlClient, moment: Date): Promise<void> {
  for (;;) {
    const leftMs = moment.getTime() - (await selectClockTime(sql)).getTime()
    if (leftMs < 0) return
    await delay(leftMs + 1)
  }
}

/** It expires first, so that nobody keeps more for it. */
async function remove({ sql, objects }: HoldDeps, holdId: string): Promise<void> {
  await expireHold(sql, holdId)
  for await (const key of selectKeptKeys(sql, holdId)) await objects.delete(keptKey(holdId, key))
  await deleteHold(sql, holdId)
}

const lost = (): SetupError =>
  new SetupError(
    'The backup was away from the database for more than a minute, and objects that it wanted may be gone: run it again',
  )
