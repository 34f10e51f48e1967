import type { Socket } from 'node:net'

import { AppError } from '#base/app-error.ts'
import { backoffMs } from '#base/backoff.ts'
import type { SandboxConfig } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { Jail } from '#platform/sandbox-host/isolation/jail.ts'
import type { GuestScripts } from '#sandbox/protocol/part-names.ts'

import { HostDemand } from './host-demand.ts'
import { HostMemoryBound } from './host-memory-bound.ts'
import { causeOf, type HostExit, HostProcess } from './host-process.ts'
import {
  boundedHost,
  endUnneeded,
  type Host,
  prioritize,
  type HostSlot,
  newSlot,
} from './host-slot.ts'
import { HostSocketServer, type FrameReceiver } from './host-socket-server.ts'
import type { WorkerExit } from './lost-calls.ts'
import { isStopped, cpuMs, rssBytes } from './process-usage.ts'
import { markOf, progressOf } from './progress-file.ts'
import { removeAbandonedRunFolders, RunFolder } from './run-folder.ts'
import type { SandboxActivity } from './sandbox-activity.ts'
import type { SandboxStatus } from './sandbox.ts'
import { type HostRole, yields, type SlotKey } from './slot-key.ts'
import { Watchdog } from './watchdog.ts'
import { WorkerConnection, type WorkerEvents } from './worker-connection.ts'

/** A host that is started when it is needed ends when it was not needed for so long. */
const UNNEEDED_MS = 60_000

/** The same of those that only make calls faster: they come back at the price of a start. */
const UNNEEDED_AT_REST_MS = 180_000

/** A host that lived this long starts again at once. */
const STABLE_MS = 10_000

/** A host that is not there after this is none to count on. */
const RECOVERY_MS = 5000
const QUICK_RESTARTS = 3
const MIB = 1024 * 1024
const MAX_RESTART_DELAY_MS = 5000

export interface HostSupervisorDeps {
  readonly jail: Jail
  /** What a host runs. */
  readonly entry: string
  readonly logger: Logger
  /** Hosts for sites whose calls are short. */
  readonly ordinaryHosts: number
  readonly config: Pick<SandboxConfig, 'hostMemoryMb' | 'memoryMb' | 'warmIsolates'>
  readonly activity: SandboxActivity
  /** Where the prelude's snapshot is kept. */
  readonly snapshotPath: string
  readonly scripts: GuestScripts
  readonly events: WorkerEvents
  onWorkerConnected(worker: WorkerConnection): void
  onWorkerLost(worker: WorkerConnection, exit: WorkerExit): void
  workers(): ReadonlySet<WorkerConnection>
}

/** The host processes of this service: started, watched, replaced, and connected to. */
export class HostSupervisor {
  readonly #deps: HostSupervisorDeps
  readonly #folder: RunFolder
  readonly #connections: HostSocketServer
  readonly #watchdog: Watchdog
  readonly #memoryBound: HostMemoryBound
  readonly #memoryBytes: number
  readonly #slots: HostSlots
  readonly #demand: HostDemand
  readonly #hosts = new Set<Host>()
  readonly #restarts = new Set<NodeJS.Timeout>()
  #waiting: (() => void)[] = []
  #started = 0
  #hasServed = false
  #hasLostOne = false
  #closed = false

  constructor(deps: HostSupervisorDeps) {
    this.#deps = deps
    this.#folder = new RunFolder(deps.jail)
    this.#connections = new HostSocketServer(
      (token, socket) => this.#accept(token, socket),
      (error) => deps.logger.error({ err: error }, 'the socket of the sandbox hosts failed'),
    )
    const { ordinaryHosts } = deps
    this.#slots = new HostSlots(ordinaryHosts)
    this.#demand = new HostDemand({
      ordinaryHosts,
      needed: (role, index) => this.needed(role, index),
      ordinary: () => this.#slots.ordinaryUse(),
    })
    this.#memoryBytes = deps.config.hostMemoryMb * MIB
    this.#watchdog = new Watchdog({
      hosts: () => Array.from(this.#hosts, ({ process }) => process),
      workers: () => deps.workers(),
      memoryBytes: this.#memoryBytes,
      readProgress: markOf,
    })
    this.#memoryBound = new HostMemoryBound({
      limitBytes: deps.config.memoryMb * MIB,
      logger: deps.logger,
      hosts: () => Array.from(this.#hosts, boundedHost),
      replace: (pid) => this.#replace(this.#hostOf(pid)),
      end: (pid) => void this.#hostOf(pid)?.process.dismiss(),
    })
  }

  get status(): SandboxStatus['hosts'] {
    return this.#slots.status(this.#hosts)
  }

  /** Resolves when the first host is about to start. */
  async open(): Promise<void> {
    await this.#connections.listen(this.#folder.socketPath)
    this.#folder.openSocket()
    void removeAbandonedRunFolders()
    this.#fill(this.#slots.first)
  }

  /** Whether calls are taken; they also are while the only host is replaced. */
  get isReady(): boolean {
    if (this.#deps.workers().size > 0) return true
    const { host, shortLives } = this.#slots.first
    const startedMs = host?.process.startedMs ?? Number.NEGATIVE_INFINITY
    const isSoon = performance.now() - startedMs < RECOVERY_MS && shortLives <= QUICK_RESTARTS
    return this.#hasServed && isSoon
  }

  /** Resolves when at least one worker takes calls. */
  async ready(): Promise<void> {
    while (this.#deps.workers().size === 0) {
      if (this.#closed) throw new AppError('ServiceUnavailable', 'The service is shutting down')
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** A call has come. */
  called(nowMs: number): void {
    this.#watchdog.wake(nowMs)
    this.#memoryBound.wake(nowMs)
    this.#demand.called(nowMs)
  }

  /** Has a host of that kind ready, as long as this is called time and again, and its memory is there. */
  needed(role: HostRole, index = 0): void {
    const slot = this.#slots.at({ role, index })
    if (!slot || this.#closed) return
    const isHelpful = role === 'ordinary' || role === 'spare'
    if (isHelpful && !slot.host && !this.#memoryBound.hasRoom(performance.now())) return
    this.#keep(slot, isHelpful || role === 'apart' ? UNNEEDED_AT_REST_MS : UNNEEDED_MS)
  }

  async stop(): Promise<void> {
    this.#closed = true
    this.#watchdog.stop()
    this.#memoryBound.stop()
    for (const { ending } of this.#slots.all) clearTimeout(ending)
    for (const restart of this.#restarts) clearTimeout(restart)
    await Promise.all(Array.from(this.#hosts, ({ process }) => process.dismiss()))
    for (const resolve of this.#waiting.splice(0)) resolve()
    await this.#connections.close()
    await this.#folder.remove()
  }

  #keep(slot: HostSlot, unneededMs: number): void {
    if (slot !== this.#slots.first) {
      slot.ending ??= setTimeout(() => endUnneeded(slot), unneededMs).unref()
      slot.ending.refresh()
    }
    if (!slot.host && !slot.isResting) this.#fill(slot)
  }

  /** Seats the spare, if there is one that runs, or else a new host. */
  #fill(slot: HostSlot): void {
    const { spare: spareSlot } = this.#slots
    const spare = slot === spareSlot ? undefined : spareSlot.host
    if (!spare || spare.exit || isStopped(spare.process.pid)) {
      slot.host = this.#newHost(slot)
      return
    }
    spareSlot.host = undefined
    slot.host = spare
    spare.slot = slot
    if (spare.worker) {
      spare.worker.place = slot.place
      prioritize(spare)
    }
    if (this.#slots.isWanted(spareSlot) && this.#memoryBound.hasRoom(performance.now()))
      this.#fill(spareSlot)
  }

  #hostOf(pid: number): Host | undefined {
    return Array.from(this.#hosts).find(({ process }) => process.pid === pid)
  }

  /** Seats another, which takes its calls from now on, while it ends what it has begun. False when none is ready for that. */
  #replace(host: Host | undefined): boolean {
    if (!host?.worker || host.slot.host !== host) return false
    const { slot, worker } = host
    const { spare } = this.#slots
    if (slot !== spare && spare.host?.isConnected !== true) {
      this.#keep(spare, UNNEEDED_MS)
      return false
    }
    worker.isLeaving = true
    this.#deps.activity.replacements.add(slot.place.role)
    this.#fill(slot)
    return true
  }

  #newHost(slot: HostSlot): Host {
    const { jail, entry, logger, snapshotPath, scripts, config } = this.#deps
    const memoryBytes = this.#memoryBytes
    this.#started += 1
    const { socketPath } = this.#folder
    const { progressPath, draftPath } = this.#folder.filesOfHost(this.#started)
    const view = { reads: [socketPath, snapshotPath], writes: [progressPath, draftPath] }
    const host: Host = {
      slot,
      worker: undefined,
      isConnected: false,
      exit: undefined,
      process: new HostProcess({
        command: jail.command({ entry, view, memoryBytes }),
        logger,
        options: {
          socketPath,
          progressPath,
          snapshotPath,
          draftPath,
          ...scripts,
          warmIsolates: config.warmIsolates,
          memoryBytes,
        },
        exited: (exit) => {
          host.exit = exit
          this.#reap(host)
        },
      }),
    }
    this.#hosts.add(host)
    return host
  }

  #accept(token: string, socket: Socket): FrameReceiver | undefined {
    const host = Array.from(this.#hosts).find(({ process }) => process.token === token)
    if (!host || host.worker) return undefined
    host.process.connected()
    const { pid, progressPath } = host.process
    const worker = new WorkerConnection(
      socket,
      { pid, progressPath, place: host.slot.place },
      this.#deps.events,
    )
    host.worker = worker
    host.isConnected = true
    this.#hasServed = true
    prioritize(host)
    this.#deps.onWorkerConnected(worker)
    for (const resolve of this.#waiting.splice(0)) resolve()
    // Not before the lost one is replaced: two that start together start half as fast.
    if (this.#hasLostOne) this.needed('spare')
    this.#hasLostOne = false
    return {
      receive: (text) => worker.receive(text),
      closed: () => {
        host.isConnected = false
        // A host without its connection is of no use; most often it is just ending.
        if (!host.exit && !this.#closed) host.process.end()
        this.#reap(host)
      },
    }
  }

  /** Gives a host up that has ended and whose connection is read to the end. */
  #reap(host: Host): void {
    const { exit, worker, slot } = host
    if (!exit || host.isConnected || !this.#hosts.delete(host)) return
    if (worker) {
      this.#watchdog.forget(worker)
      this.#deps.onWorkerLost(worker, {
        cause: causeOf(exit),
        progress: progressOf(worker),
        isLoading: markOf(worker).isLoading,
        silentMs: worker.silentMs(performance.now()),
      })
    }
    // Else it had left its place.
    if (slot.host === host) this.#vacate(slot, host, exit)
  }

  #vacate(slot: HostSlot, { process }: Host, { isDismissed }: HostExit): void {
    slot.host = undefined
    if (!isDismissed) slot.losses += 1
    slot.shortLives = performance.now() - process.startedMs > STABLE_MS ? 0 : slot.shortLives + 1
    if (this.#closed) return
    // What brought one down may bring down the next.
    if (!isDismissed) this.#hasLostOne = true
    // For these a call that waits asks again.
    if (!yields(slot.place.role) && this.#slots.isWanted(slot)) this.#refill(slot)
  }

  /** At once: the cause was site code, most likely. Later, when they end again and again. */
  #refill(slot: HostSlot): void {
    if (slot.shortLives <= QUICK_RESTARTS) {
      this.#fill(slot)
      return
    }
    const delayMs = backoffMs(slot.shortLives - QUICK_RESTARTS, { maxMs: MAX_RESTART_DELAY_MS })
    slot.isResting = true
    const restart = setTimeout(() => {
      this.#restarts.delete(restart)
      slot.isResting = false
      if (!slot.host && this.#slots.isWanted(slot)) this.#fill(slot)
    }, delayMs)
    this.#restarts.add(restart)
  }
}

/** The places that hosts may have. The first ordinary one is never empty for long, all others only while they are needed. */
class HostSlots {
  readonly first: HostSlot
  readonly spare = newSlot({ role: 'spare', index: 0 })
  readonly #ordinary: readonly [HostSlot, ...HostSlot[]]
  readonly #others = new Map<HostRole, HostSlot>()

  constructor(ordinaryHosts: number) {
    this.first = newSlot({ role: 'ordinary', index: 0 })
    const more = Array.from({ length: ordinaryHosts - 1 }, (_, at) =>
      newSlot({ role: 'ordinary', index: at + 1 }),
    )
    this.#ordinary = [this.first, ...more]
    for (const role of ['apart', 'long', 'quarantine', 'load'] as const) {
      this.#others.set(role, newSlot({ role, index: 0 }))
    }
    this.#others.set('spare', this.spare)
  }

  get all(): HostSlot[] {
    return [...this.#ordinary, ...this.#others.values()]
  }

  at({ role, index }: SlotKey): HostSlot | undefined {
    return role === 'ordinary' ? this.#ordinary[index] : this.#others.get(role)
  }

  /** Whether it was used recently, or is always to be taken. */
  isWanted(slot: HostSlot): boolean {
    return slot === this.first || slot.ending !== undefined
  }

  /** The ordinary hosts together. */
  ordinaryUse(): { readonly hosts: number; readonly cpuMs: number } {
    const use = { hosts: 0, cpuMs: 0 }
    for (const { host } of this.#ordinary) {
      if (!host) continue
      use.hosts += 1
      use.cpuMs += cpuMs(host.process.pid) ?? 0
    }
    return use
  }

  /** Those in a place, and those that only end what they have begun. */
  status(hosts: Iterable<Host>): SandboxStatus['hosts'] {
    const taken = this.all.filter((slot) => slot === this.first || slot.host)
    const seated = taken.map(({ place: { role }, host, losses }) => {
      const pid = host?.process.pid ?? 0
      const ready = host?.isConnected === true
      return { pid, role, ready, restarts: losses, rssBytes: rssBytes(pid) }
    })
    const leaving = Array.from(hosts, boundedHost).filter(({ isLeaving }) => isLeaving)
    return [
      ...seated,
      ...leaving.map(({ pid, role }) => {
        return { pid, role, ready: false, restarts: 0, rssBytes: rssBytes(pid) }
      }),
    ]
  }
}
