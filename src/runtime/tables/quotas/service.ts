import { setTimeout as delay } from 'node:timers/promises'

import { AppError } from '#base/app-error.ts'
import type { Queue } from '#platform/queue/queue.ts'
import { tooBusy } from '#runtime/tables/store/retries.ts'

import { type Charge, type MeteredWrites, RoomNeeded } from './charge.ts'
import { type Cost, fits, NOTHING, plus } from './cost.ts'
import { TableCounts } from './counts.ts'
import { selectUsage } from './room-rows.ts'
import type { SiteRoom } from './site-room.ts'
import { SiteRooms, type SiteRoomsDeps, type RoomVerdict } from './site-rooms.ts'

/** A write whose item others change meanwhile may need more room each time. */
const MOST_TRIES = 10
/** How long one waits, in steps, where only writes that still run stand in the way. */
const WAITS_MS = [5, 10, 25, 50, 100, 200, 300]
/** A site that is close to a limit is counted, unless it was lately. */
const COUNTED_LATELY_MS = 3_600_000
/** From so many on, counting takes a while. */
const MANY_ITEMS = 50_000

export interface TableUsage {
  readonly usedBytes: number
  readonly usedItems: number
}

export interface TableQuotasDeps extends SiteRoomsDeps {
  readonly queue: Queue
}

/**
 * What the tables of each site hold, and the quota on it. A process takes room for some writes from its site's account and
 * spends it in memory, so a write asks nobody. Where it did not look at what it replaces it is charged as if nothing had been
 * there; close to a limit writes look, and before one is refused everything is counted anew, if that was not done just now.
 */
export class TableQuotas implements MeteredWrites, AsyncDisposable {
  readonly #deps: TableQuotasDeps
  readonly #counts: TableCounts
  readonly #rooms: SiteRooms

  constructor(deps: TableQuotasDeps) {
    this.#deps = deps
    this.#counts = new TableCounts(deps)
    this.#rooms = new SiteRooms(deps, async (siteId, { isPlanned }) => {
      if (!isPlanned) await this.#counts.plan(siteId)
    })
    deps.queue.handle('table-recount', (job, signal) => this.#counts.daily(job, signal))
  }

  async run<Result>(siteId: string, write: (charge: Charge) => Promise<Result>): Promise<Result> {
    const room = this.#rooms.of(siteId)
    room.enter()
    try {
      if (!room.known) await this.#rooms.meet(siteId, room)
      return await this.#run(siteId, room, write)
    } finally {
      room.leave()
      if (room.tight && room.untold) this.#rooms.settleSoon(siteId)
    }
  }

  /** What tables hold now; of a site that takes long to count, at least that much. */
  async usage(siteId: string): Promise<TableUsage> {
    await this.#rooms.settle(siteId)
    const read = () => this.#deps.database.withSite(siteId, selectUsage)
    let usage = await read()
    if (usage?.isStale) {
      await this.#counts.renew(siteId, usage)
      usage = await read()
    }
    return { usedBytes: usage?.usedBytes ?? 0, usedItems: usage?.usedItems ?? 0 }
  }

  /** After items were removed by others than writers. */
  async recount(siteId: string, signal: AbortSignal): Promise<void> {
    await this.#counts.changed(siteId)
    await this.#counts.run(siteId, signal)
  }

  /** Leaves that count to whoever asks next. */
  changed(siteId: string): Promise<void> {
    return this.#counts.changed(siteId)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#counts.stop()
    await this.#rooms[Symbol.asyncDispose]()
  }

  async #run<Result>(
    siteId: string,
    room: SiteRoom,
    write: (charge: Charge) => Promise<Result>,
  ): Promise<Result> {
    let charge = room.charge(room.tight)
    for (let tries = 1; ; tries++) {
      try {
        const result = await write(charge)
        charge.done()
        return result
      } catch (error) {
        charge.failed(error)
        if (!(error instanceof RoomNeeded)) throw error
        if (tries === MOST_TRIES) throw tooBusy(error)
        const { asked } = error
        const granted = await this.#grant(siteId, room, { asked, exact: charge.exact })
        charge = room.charge(charge.exact || !granted, granted ? asked : NOTHING)
      }
    }
  }

  /** False when the write has to look at what is there before anybody can say whether it grows too much. */
  async #grant(
    siteId: string,
    room: SiteRoom,
    { asked, exact }: { readonly asked: Cost; readonly exact: boolean },
  ): Promise<boolean> {
    let refusal = await this.#ask(siteId, room, asked)
    if (refusal === undefined) return true
    if (!exact) return false
    for (const wait of WAITS_MS) {
      if (!fits(plus(refusal.used, asked), refusal.limits)) break
      await delay(wait)
      refusal = await this.#ask(siteId, room, asked)
      if (refusal === undefined) return true
    }
    const state = await this.#counts.renew(siteId, refusal)
    if (state === 'counting') throw beingCounted()
    if (state === 'counted') refusal = await this.#ask(siteId, room, asked)
    if (refusal === undefined) return true
    throw quotaExceeded(refusal, asked)
  }

  /** Undefined when the room was given. */
  async #ask(siteId: string, room: SiteRoom, asked: Cost): Promise<RoomVerdict | undefined> {
    const verdict = await this.#rooms.ask(siteId, room, asked)
    if (verdict === 'held') return undefined
    if (room.tight) this.#approach(siteId, verdict)
    return verdict.granted ? undefined : verdict
  }

  /** Counts ahead what would keep a writer waiting. */
  #approach(siteId: string, { used, countedAgoMs }: RoomVerdict): void {
    const lately = countedAgoMs !== null && countedAgoMs < COUNTED_LATELY_MS
    if (used.items < MANY_ITEMS || lately) return
    void this.#counts.begin(siteId)
  }
}

const beingCounted = (): AppError =>
  new AppError(
    'ServiceUnavailable',
    'The tables of this site are being counted, because they are close to a limit: try again in a few seconds',
    { retryAfterSeconds: 5 },
  )

function quotaExceeded({ taken, limits }: RoomVerdict, asked: Cost): AppError {
  const over = asked.bytes > 0 && taken.bytes + asked.bytes > limits.bytes
  const [name, unit] = over
    ? (['tableBytes', 'bytes'] as const)
    : (['tableItems', 'items'] as const)
  const limit = { name, value: limits[unit], used: taken[unit], asked: asked[unit] }
  return new AppError(
    'QuotaExceeded',
    `The tables of this site may hold ${limit.value} ${unit} (limit "${name}"): ${limit.used} are used, and this asks for ${limit.asked} more`,
    { fields: { limit } },
  )
}
