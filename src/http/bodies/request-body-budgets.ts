import { AppError } from '#base/app-error.ts'

const MIB = 1024 * 1024
/** What bodies that have not ended hold: of one network, for one host, and all together. */
const MOST_HELD = { network: 128 * MIB, host: 128 * MIB, all: 256 * MIB } as const
const IDLE_MS = 30_000
/** From then on, counted from its beginning, a body keeps up with the slowest connection that is served. */
export const GRACE_MS = 20_000
const BYTES_PER_SECOND = 500
const SWEEP_MS = 1000

export interface BodySource {
  /** Where it comes from, as `ipPrefix` tells. */
  readonly network: string
  readonly host: string
}

/** One body that is being received. */
export interface BodyProgress {
  /** More has arrived, and with it so much more is held. */
  received(bytes: number, heldBytes: number): void
  /** The reader requests no more: no time passes until it does. */
  pause(): void
  resume(): void
  /** Nothing of it waits any more. */
  close(): void
}

interface TrackedBody {
  readonly end: (fault: AppError) => void
  readonly groups: readonly Group[]
  startedAtMs: number
  movedAtMs: number
  restsSinceMs: number | undefined
  receivedBytes: number
  heldBytes: number
}

interface Group {
  readonly kind: keyof typeof MOST_HELD
  readonly key: string
  readonly entries: Set<TrackedBody>
  heldBytes: number
}

/**
 * The request bodies that have not ended. One that stalls is ended; where too much is held, the one that has held most for
 * longest makes room, so that clients that send at an ordinary speed get through beside those that do not.
 */
export class RequestBodyBudgets {
  readonly #now: () => number
  readonly #all: Group = { kind: 'all', key: '', entries: new Set(), heldBytes: 0 }
  readonly #groups = new Map<string, Group>()
  #timer: ReturnType<typeof setInterval> | undefined

  /** `now` in milliseconds, of any beginning. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Calls `end`, once and at any time until `closed`, with the reason why the body is read no further. */
  open({ network, host }: BodySource, end: (fault: AppError) => void): BodyProgress {
    return this.#open([this.#group('network', network), this.#group('host', host), this.#all], end)
  }

  /** One that is not seen arriving, and has little time for it. */
  openShort(end: (fault: AppError) => void): Pick<BodyProgress, 'close'> {
    return this.#open([this.#all], end)
  }

  #open(groups: readonly Group[], end: (fault: AppError) => void): BodyProgress {
    const now = this.#now()
    const entry: TrackedBody = {
      end,
      groups,
      startedAtMs: now,
      movedAtMs: now,
      restsSinceMs: undefined,
      receivedBytes: 0,
      heldBytes: 0,
    }
    for (const group of groups) group.entries.add(entry)
    this.#watch()
    return {
      received: (bytes, heldBytes) => this.#arrived(entry, bytes, heldBytes),
      pause: () => (entry.restsSinceMs = this.#now()),
      resume: () => this.#goOn(entry),
      close: () => this.#close(entry),
    }
  }

  /** Ends the bodies that have stalled. */
  sweep(): void {
    const now = this.#now()
    for (const entry of this.#all.entries)
      if (hasStalled(entry, now)) this.#end(entry, bodyStalled())
  }

  #arrived(entry: TrackedBody, bytes: number, heldBytes: number): void {
    if (!this.#all.entries.has(entry)) return
    entry.receivedBytes += bytes
    entry.movedAtMs = this.#now()
    entry.heldBytes += heldBytes
    for (const group of entry.groups) group.heldBytes += heldBytes
    for (const group of entry.groups) this.#makeRoom(group)
  }

  #goOn(entry: TrackedBody): void {
    if (entry.restsSinceMs === undefined) return
    entry.movedAtMs = this.#now()
    entry.startedAtMs += entry.movedAtMs - entry.restsSinceMs
    entry.restsSinceMs = undefined
  }

  #makeRoom(group: Group): void {
    const most = MOST_HELD[group.kind]
    while (group.heldBytes > most) {
      const heaviest = heaviestOf(group, this.#now())
      if (!heaviest) return
      this.#end(heaviest, budgetExceeded(most))
    }
  }

  #end(entry: TrackedBody, fault: AppError): void {
    this.#close(entry)
    entry.end(fault)
  }

  #close(entry: TrackedBody): void {
    if (!this.#all.entries.has(entry)) return
    for (const group of entry.groups) {
      group.entries.delete(entry)
      group.heldBytes -= entry.heldBytes
      if (group.entries.size === 0) this.#groups.delete(`${group.kind} ${group.key}`)
    }
    if (this.#all.entries.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #group(kind: 'network' | 'host', key: string): Group {
    const name = `${kind} ${key}`
    const group = this.#groups.get(name) ?? { kind, key, entries: new Set(), heldBytes: 0 }
    this.#groups.set(name, group)
    return group
  }

  #watch(): void {
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS)
    this.#timer.unref()
  }
}

function hasStalled(entry: TrackedBody, now: number): boolean {
  const { startedAtMs, movedAtMs, restsSinceMs, receivedBytes } = entry
  if (restsSinceMs !== undefined) return false
  const due = ((now - startedAtMs - GRACE_MS) / 1000) * BYTES_PER_SECOND
  return now - movedAtMs > IDLE_MS || receivedBytes < due
}

/** By bytes and time together: who sends slowly on purpose holds what he holds for long. */
function heaviestOf({ entries }: Group, now: number): TrackedBody | undefined {
  let heaviest: TrackedBody | undefined
  let weight = -1
  for (const entry of entries) {
    const own = entry.heldBytes * (now - entry.startedAtMs + 1)
    if (own > weight) [heaviest, weight] = [entry, own]
  }
  return heaviest
}

/** What is said of a body that does not arrive. */
export const bodyStalled = (): AppError =>
  new AppError(
    'RequestTimeout',
    `The request body stopped arriving, or arrived with less than ${BYTES_PER_SECOND} bytes a second: send it again`,
    { retryAfterSeconds: 1 },
  )

const budgetExceeded = (limitBytes: number): AppError =>
  new AppError(
    'RequestTimeout',
    'Too much is being received at once, and this request body was slower than the others: send it again, faster or after them',
    { retryAfterSeconds: 5, fields: { limitBytes } },
  )
