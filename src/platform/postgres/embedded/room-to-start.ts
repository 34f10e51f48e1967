import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { SetupError } from '#config/setup-error.ts'
import { Ballast } from '#platform/disk/ballast.ts'
import { freeSpaceOf } from '#platform/disk/free-space.ts'
import type { Logger } from '#platform/log/logger.ts'

const MIB = 1024 * 1024
/** PostgreSQL begins a new segment of 16 MB of its log when it recovers, and writes down what is in memory. */
const START_BYTES = 40 * MIB
const LOOK_MS = 1000

/** What is kept for the database of this folder, on its disk. */
export const ballastOf = (cluster: string): Ballast =>
  new Ballast(join(dirname(cluster), 'ballast'))

/** Gives the database its last room when there is too little for it to start. */
export async function requireRoom(cluster: string): Promise<void> {
  if (await makeRoom(cluster)) return
  throw new SetupError(
    `The disk of the embedded PostgreSQL in "${cluster}" is full: make room for the ${START_BYTES / MIB} MB that it needs to start, and start again`,
  )
}

async function makeRoom(cluster: string): Promise<boolean> {
  if (await hasRoom(cluster)) return true
  await ballastOf(cluster).release()
  return hasRoom(cluster)
}

/** The same for a server that is started again: waits where that does not suffice. */
export async function waitForRoom(
  cluster: string,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  let isTold = false
  while (!signal.aborted && !(await makeRoom(cluster))) {
    const fields = { folder: cluster, neededBytes: START_BYTES }
    if (!isTold) log.error(fields, 'embedded postgres waits for room on its disk')
    isTold = true
    await delay(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

const hasRoom = async (cluster: string): Promise<boolean> =>
  (await freeSpaceOf(dirname(cluster))).freeBytes >= START_BYTES
