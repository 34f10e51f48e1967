import { RestingTimer } from '#base/resting-timer.ts'
import type { Logger } from '#platform/log/logger.ts'

import { rssBytes } from './process-usage.ts'
import type { HostRole } from './slot-key.ts'

const LOOK_EVERY_MS = 1000
/** Hosts without calls do not grow: so long after the last one they are not looked at. */
const CALM_MS = 5000
/** After one is replaced: the effect of that decides about the next. */
const REST_MS = 5000
/** A host that has grown by less since it began gives back too little for what replacing it costs. */
const WORTHWHILE_BYTES = 32 * 1024 * 1024

/** What a host takes before it has run anything. */
const START_BYTES = 100 * 1024 * 1024

const TOO_LOW =
  'the memory of all sandbox hosts together is too low for them: raise CROFT_SANDBOX_MEMORY_MB, or lower CROFT_SANDBOX_HOSTS'

export interface BoundedHost {
  readonly pid: number
  readonly role: HostRole
  /** Whether it takes calls. */
  readonly isReady: boolean
  /** Whether its place is another's by now, and it only ends what it has begun. */
  readonly isLeaving: boolean
  /** Calls inside. */
  readonly calls: number
}

type MeasuredHost = BoundedHost & { readonly bytes: number; readonly grownBytes: number }

/**
 * Keeps the memory of all hosts together below a limit: the one that has grown most gives its place to another that is ready,
 * and ends when its last call has. One at a time, so that what leaves cannot pile up.
 */
export class HostMemoryBound {
  readonly #deps
  readonly #timer: RestingTimer
  /** What each host had when it was first seen to take calls. */
  #firstBytes = new Map<number, number>()
  #restsUntilMs = 0
  #crampedUntilMs = 0
  #hasWarned = false

  constructor(deps: {
    /** Resident memory of all hosts together that none of them should pass for long. */
    readonly limitBytes: number
    readonly logger: Logger
    hosts(): readonly BoundedHost[]
    /** Gives its place to another. False when none is ready for that. */
    replace(pid: number): boolean
    /** Ends one that has left its place. */
    end(pid: number): void
    /** Resident memory of a process; the system's word when left out. */
    readonly bytesOf?: (pid: number) => number
  }) {
    this.#deps = deps
    const look = (nowMs: number) => this.look(nowMs)
    this.#timer = new RestingTimer({ look, everyMs: LOOK_EVERY_MS, calmMs: CALM_MS })
  }

  /** Call it when a call comes. */
  wake(nowMs: number): void {
    this.#timer.wake(nowMs)
  }

  /** Whether one more host fits. Where it does not, that holds for a second. */
  hasRoom(nowMs: number): boolean {
    if (nowMs < this.#crampedUntilMs) return false
    const { bytesOf = rssBytes, limitBytes } = this.#deps
    let bytes = START_BYTES
    for (const { pid } of this.#deps.hosts()) bytes += bytesOf(pid)
    if (bytes > limitBytes) this.#crampedUntilMs = nowMs + LOOK_EVERY_MS
    return bytes <= limitBytes
  }

  stop(): void {
    this.#timer[Symbol.dispose]()
  }

  /** Whether hosts may still grow, or leave. */
  look(nowMs: number): boolean {
    const hosts = this.#measure()
    const leaving = hosts.filter(({ isLeaving }) => isLeaving)
    for (const { pid, calls } of leaving) if (calls === 0) this.#deps.end(pid)
    let bytes = 0
    for (const host of hosts) bytes += host.bytes
    if (bytes <= this.#deps.limitBytes) this.#hasWarned = false
    else if (leaving.length === 0 && nowMs >= this.#restsUntilMs)
      this.#replaceOne(hosts, bytes, nowMs)
    return leaving.length > 0 || hosts.some(({ calls }) => calls > 0)
  }

  #measure(): MeasuredHost[] {
    const { bytesOf = rssBytes } = this.#deps
    const firstBytes = new Map<number, number>()
    const hosts = this.#deps.hosts().map((host) => {
      const bytes = bytesOf(host.pid)
      const first = this.#firstBytes.get(host.pid) ?? bytes
      if (host.isReady) firstBytes.set(host.pid, first)
      return { ...host, bytes, grownBytes: bytes - first }
    })
    this.#firstBytes = firstBytes
    return hosts
  }

  #replaceOne(hosts: readonly MeasuredHost[], bytes: number, nowMs: number): void {
    const { logger, limitBytes } = this.#deps
    const [largest] = hosts
      .filter(({ isReady }) => isReady)
      .toSorted((one, other) => other.grownBytes - one.grownBytes)
    if (largest === undefined) return
    const { pid: hostPid, role, calls, bytes: hostBytes, grownBytes } = largest
    const fields = { bytes, limitBytes, hostPid, role, hostBytes, grownBytes, calls }
    if (grownBytes < WORTHWHILE_BYTES) {
      if (!this.#hasWarned) logger.warn(fields, TOO_LOW)
      this.#hasWarned = true
      return
    }
    if (!this.#deps.replace(hostPid)) return
    this.#restsUntilMs = nowMs + REST_MS
    logger.info(fields, 'sandbox host is replaced: all together have reached their memory')
  }
}
