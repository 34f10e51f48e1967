import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

import { isJsonObject } from '#base/json-object.ts'
import { processStart } from '#config/process-identity.ts'
import { SetupError } from '#config/setup-error.ts'

import type { BackupPlace } from './backup-place.ts'
import { Lease } from './lease.ts'

const NAME = 'lock'
const RENEW_MS = 10_000
/** A holder that has not renewed its lock for so long is dead, or as good as that. */
const DEAD_AFTER_MS = 45_000
const LOOK_MS = 5000
/** A process that takes a stale lock looks after this whether another did at the same moment. */
const SETTLE_MS = 1000

interface Waiting {
  readonly say: (line: string) => void
  readonly wait?: (ms: number) => Promise<unknown>
}

interface Holder {
  readonly token: string
  readonly host: string
  readonly pid: number
  readonly started: string
  readonly renewals: number
}

/**
 * Keeps all others from writing into a place of backups. The lock of a process of this machine that is gone is taken over at
 * once, that of another machine once it has not been renewed for 45 seconds, whatever their clocks say.
 */
export async function lockPlace(
  place: BackupPlace,
  { say, wait = delay }: Waiting,
): Promise<Lease> {
  const mine = {
    token: randomUUID(),
    host: hostname(),
    pid: process.pid,
    started: processStart(process.pid) ?? '',
  }
  const text = (renewals: number) => Buffer.from(JSON.stringify({ ...mine, renewals }))
  if (!(await place.create(NAME, text(0)))) {
    await waitForDeath(place, { say, wait })
    await place.write(NAME, text(0))
    await wait(SETTLE_MS)
    const holder = await readHolder(place)
    if (holder?.token !== mine.token) throw inUse(place, holder)
  }
  let renewals = 0
  return new Lease({
    everyMs: RENEW_MS,
    renew: async () => {
      const holder = await readHolder(place)
      if (holder?.token !== mine.token) throw inUse(place, holder)
      await place.write(NAME, text(++renewals))
    },
    release: async () => {
      if ((await readHolder(place))?.token === mine.token) await place.delete(NAME)
    },
  })
}

/** Rejects while the holder lives. */
async function waitForDeath(place: BackupPlace, { say, wait }: Required<Waiting>): Promise<void> {
  const first = await readHolder(place)
  if (first === undefined) return
  if (first.host === hostname()) {
    if (processStart(first.pid) === first.started) throw inUse(place, first)
    return
  }
  say(
    `A backup of ${first.host} holds "${place.address}": waiting ${DEAD_AFTER_MS / 1000} seconds whether it lives…`,
  )
  for (let waitedMs = 0; waitedMs < DEAD_AFTER_MS; waitedMs += LOOK_MS) {
    await wait(LOOK_MS)
    const now = await readHolder(place)
    if (now === undefined) return
    if (now.token !== first.token || now.renewals !== first.renewals) throw inUse(place, now)
  }
}

async function readHolder(place: BackupPlace): Promise<Holder | undefined> {
  const bytes = await place.read(NAME)
  if (bytes === undefined) return undefined
  try {
    const holder: unknown = JSON.parse(bytes.toString())
    if (!isJsonObject(holder)) return undefined
    return {
      token: String(holder['token']),
      host: String(holder['host']),
      pid: Number(holder['pid']),
      started: String(holder['started']),
      renewals: Number(holder['renewals']),
    }
  } catch {
    // A file that holds anything else locks nothing.
    return undefined
  }
}

const inUse = (place: BackupPlace, holder: Holder | undefined): SetupError =>
  new SetupError(
    `Another backup writes into "${place.address}"${holder === undefined ? '' : ` (process ${holder.pid} of ${holder.host})`}: let it end, or use another place`,
  )
