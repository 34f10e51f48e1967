import { RestingTimer } from '#base/resting-timer.ts'
import { MAX_WAIT_FACTOR } from '#sandbox/host/cpu-clock.ts'
import { LOAD_CPU_MS } from '#sandbox/protocol/protocol.ts'

import type { HostProcess, KillReason } from './host-process.ts'
import { cpuMs, isStopped, rssBytes, threadsCpuMs } from './process-usage.ts'
import type { WorkerConnection } from './worker-connection.ts'

const LOOK_EVERY_MS = 25
/** Over what the longest stretch may take. */
const GRACE_MS = 250
/** A worker with calls inside is asked for a sign of life that often. */
const PING_EVERY_MS = 250
/** What runs longer than it may is ended by its worker, which knows only about when where it shares its processor. */
const LATE_FACTOR = 4
const WHOLE_PROCESSOR = 0.9
/** A process that got no processor time is slow, not stuck; up to a point, which is beyond what its worker itself waits. */
const STARVED_FACTOR = MAX_WAIT_FACTOR + 8
/** How long a process with nothing to do may be stopped by another program. */
const STOPPED_MS = 1000
/** How often those are looked at while no calls come. */
const REST_MS = 2000

/** Share of the host's memory by which it must have grown under a call for that to be to blame. */
const BLAMED_GROWTH = 1 / 8

interface Observation {
  readonly seq: number
  readonly mark: string
  readonly sinceMs: number
  /** Of each thread of the host: what others than the worker's use is not the doing of what runs. */
  readonly cpuMs: ReadonlyMap<string, number>
}

/**
 * Kills a host process that outgrows its memory or stops answering while calls are inside, and one that another program has
 * stopped, so that no call waits in it.
 */
export class Watchdog {
  readonly #deps
  readonly #observed = new Map<WorkerConnection, Observation>()
  readonly #pingedMs = new Map<WorkerConnection, number>()
  /** Resident memory of its host when the worker's oldest frame was first seen. */
  readonly #sizes = new Map<WorkerConnection, { seq: number; bytes: number }>()
  /** Since when hosts without calls have been seen to be stopped. */
  #stopped = new Map<HostProcess, number>()
  #idleLookMs = 0
  readonly #timer: RestingTimer

  constructor(deps: {
    hosts(): readonly HostProcess[]
    workers(): ReadonlySet<WorkerConnection>
    readonly memoryBytes: number
    readProgress(worker: WorkerConnection): { readonly mark: string; readonly isLoading: boolean }
  }) {
    this.#deps = deps
    const look = (nowMs: number) => this.#look(nowMs)
    this.#timer = new RestingTimer({ look, everyMs: LOOK_EVERY_MS, restMs: REST_MS })
  }

  /** Call it when a call comes. */
  wake(nowMs: number): void {
    this.#timer.wake(nowMs)
  }

  stop(): void {
    this.#timer[Symbol.dispose]()
  }

  forget(worker: WorkerConnection): void {
    this.#observed.delete(worker)
    this.#pingedMs.delete(worker)
    this.#sizes.delete(worker)
  }

  /** Whether calls are inside, or a host is stopped. */
  #look(nowMs: number): boolean {
    if (nowMs - this.#idleLookMs >= STOPPED_MS / 2) this.#lookAtIdle(nowMs)
    let isBusy = this.#stopped.size > 0
    for (const host of this.#deps.hosts()) {
      const busy = this.#busyWorkers(host)
      if (busy.length === 0) continue
      isBusy = true
      const bytes = rssBytes(host.pid)
      const grown = Math.max(...busy.map((worker) => this.#growth(worker, bytes)))
      const { memoryBytes } = this.#deps
      if (bytes > memoryBytes) host.kill(grown > memoryBytes * BLAMED_GROWTH ? 'memoryMb' : 'full')
      else for (const worker of busy) this.#listen(host, worker, nowMs)
    }
    return isBusy
  }

  #busyWorkers(host: HostProcess): WorkerConnection[] {
    return [...this.#deps.workers()].filter(
      (worker) =>
        worker.pid === host.pid && (worker.activeCalls.size > 0 || worker.unacked.length > 0),
    )
  }

  #lookAtIdle(nowMs: number): void {
    const lookedMs = this.#idleLookMs
    this.#idleLookMs = nowMs
    const stopped = new Map<HostProcess, number>()
    // It ran at the last look, which at rest is long ago.
    const newlyMs = nowMs - lookedMs <= STOPPED_MS ? lookedMs : nowMs
    for (const host of this.#deps.hosts()) {
      if (this.#busyWorkers(host).length > 0 || !isStopped(host.pid)) continue
      const sinceMs = this.#stopped.get(host) ?? newlyMs
      if (nowMs - sinceMs >= STOPPED_MS) host.kill('stopped')
      else stopped.set(host, sinceMs)
    }
    this.#stopped = stopped
  }

  /** By how much the host has grown since what its worker runs was begun, or since the look before. */
  #growth(worker: WorkerConnection, bytes: number): number {
    const seq = worker.unacked[0]?.seq ?? 0
    const known = this.#sizes.get(worker)
    if (seq === 0 || known?.seq !== seq) this.#sizes.set(worker, { seq, bytes })
    return bytes - (known?.bytes ?? 0)
  }

  #listen(host: HostProcess, worker: WorkerConnection, nowMs: number): void {
    const [frame] = worker.unacked
    if (!frame) {
      this.#observed.delete(worker)
      this.#ping(worker, nowMs)
    } else if (nowMs - frame.sentMs >= GRACE_MS) {
      const reason = this.#silence(host, worker, nowMs)
      if (reason) host.kill(reason)
    }
  }

  #ping(worker: WorkerConnection, nowMs: number): void {
    if (nowMs - (this.#pingedMs.get(worker) ?? 0) < PING_EVERY_MS) return
    this.#pingedMs.set(worker, nowMs)
    worker.send([], { nowMs, risky: false })
  }

  /** Why the worker has stayed at the same place for longer than any code may run, if it has. */
  #silence(host: HostProcess, worker: WorkerConnection, nowMs: number): KillReason | undefined {
    const [frame] = worker.unacked
    // It has ended by itself, or another program ended it: the calls inside are not to blame for the silence.
    if (!frame || cpuMs(host.pid) === undefined) return undefined
    const { mark, isLoading } = this.#deps.readProgress(worker)
    const seen = this.#observed.get(worker)
    if (!seen || seen.seq !== frame.seq || seen.mark !== mark) {
      // It has come on since the last look: the time starts again.
      const sinceMs = seen ? nowMs : frame.sentMs
      this.#observed.set(worker, { seq: frame.seq, mark, sinceMs, cpuMs: threadsCpuMs(host.pid) })
      return undefined
    }
    const allowedMs = Math.max(longestStretch(worker), isLoading ? LOAD_CPU_MS : 0) + GRACE_MS
    const silentMs = nowMs - seen.sinceMs
    if (silentMs < allowedMs) return undefined
    return isLate(busiestMs(host.pid, seen.cpuMs), silentMs, allowedMs - GRACE_MS)
      ? 'cpuMs'
      : withoutProcessor(host, silentMs > allowedMs * STARVED_FACTOR)
  }
}

/** Whether what may compute so long has done so beyond what its worker should have ended. */
const isLate = (usedMs: number, silentMs: number, limitMs: number): boolean =>
  usedMs >= limitMs * (usedMs / silentMs >= WHOLE_PROCESSOR ? 1 : LATE_FACTOR)

/** Processor time of the thread that has used the most since then. */
function busiestMs(pid: number, before: ReadonlyMap<string, number>): number {
  const threads = threadsCpuMs(pid)
  if (threads.size === 0) return Infinity
  return Math.max(...Array.from(threads, ([thread, ms]) => ms - (before.get(thread) ?? 0)))
}

/** Why it got no processor time, if that is no reason to wait longer. */
function withoutProcessor(host: HostProcess, isLong: boolean): KillReason | undefined {
  if (isStopped(host.pid)) return 'stopped'
  return isLong ? 'starved' : undefined
}

/** Also of calls that were sent earlier and may be running on. */
function longestStretch(worker: WorkerConnection): number {
  let longest = 0
  for (const frame of worker.unacked) longest = Math.max(longest, frame.cpuMs)
  for (const call of worker.activeCalls.values())
    longest = Math.max(longest, call.program.limits.cpuMs)
  return longest
}
