import type { Socket } from 'node:net'

import { AppError } from '#base/app-error.ts'
import { backoffMs } from '#base/backoff.ts'
import type { SandboxConfig } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { GuestScripts } from '#sandbox/part-names.ts'

import { HostMemoryBound } from './host-memory-bound.ts'
import type { RoleOnDemand } from './host-place.ts'
import { type HostExit, HostProcess } from './host-process.ts'
import { boundedHost, endUnneeded, type Host, newSeat, prioritize, type Seat } from './host-seat.ts'
import { HostSocketServer, type FrameReceiver } from './host-socket-server.ts'
import type { WorkerExit } from './lost-calls.ts'
import { rssBytes } from './process-usage.ts'
import { progressBytes, progressOf } from './progress-file.ts'
import { removeAbandonedRunFolders, RunFolder } from './run-folder.ts'
import type { SandboxActivity } from './sandbox-activity.ts'
import type { SandboxStatus } from './sandbox.ts'
import type { Jail } from './walls/jail.ts'
import { Watchdog } from './watchdog.ts'
import { WorkerConnection, type WorkerEvents } from './worker-connection.ts'

/** A host that is started when it is needed ends when no call has waited for it for so long. */
const UNNEEDED_MS = 60_000
/** A host that lived this long starts again at once. */
const STABLE_MS = 10_000
const QUICK_RESTARTS = 3
const MIB = 1024 * 1024
const MAX_RESTART_DELAY_MS = 5000
/** How V8 and the allocators end a process that has no memory left. */
const OUT_OF_MEMORY: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL']

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
  readonly #seats: readonly Seat[]
  readonly #spare = newSeat({ role: 'spare', index: 0 })
  readonly #onDemand = {
    long: newSeat({ role: 'long', index: 0 }),
    quarantine: newSeat({ role: 'quarantine', index: 0 }),
    load: newSeat({ role: 'load', index: 0 }),
  }
  readonly #hosts = new Set<Host>()
  readonly #restarts = new Set<NodeJS.Timeout>()
  #waiting: (() => void)[] = []
  #started = 0
  #closed = false

  constructor(deps: HostSupervisorDeps) {
    this.#deps = deps
    this.#folder = new RunFolder(deps.jail)
    this.#connections = new HostSocketServer(
      (token, socket) => this.#accept(token, socket),
      (error) => deps.logger.error({ err: error }, 'the socket of the sandbox hosts failed'),
    )
    const ordinary = Array.from({ length: deps.ordinaryHosts }, (_, index) =>
      newSeat({ role: 'ordinary', index }),
    )
    this.#seats = [...ordinary, newSeat({ role: 'apart', index: 0 })]
    this.#memoryBytes = deps.config.hostMemoryMb * MIB
    this.#watchdog = new Watchdog({
      hosts: () => Array.from(this.#hosts, ({ process }) => process),
      workers: () => deps.workers(),
      memoryBytes: this.#memoryBytes,
      readProgress: (worker) => progressBytes(worker).toString('hex'),
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
    const onDemand = Object.values(this.#onDemand).filter(({ host }) => host)
    const seats = [...this.#seats, this.#spare, ...onDemand]
    const seated = seats.map(({ place: { role }, host, losses }) => {
      const pid = host?.process.pid ?? 0
      const ready = host?.isConnected === true
      return { pid, role, ready, restarts: losses, rssBytes: rssBytes(pid) }
    })
    const leaving = Array.from(this.#hosts, boundedHost).filter(({ isLeaving }) => isLeaving)
    return [
      ...seated,
      ...leaving.map(({ pid, role }) => {
        return { pid, role, ready: false, restarts: 0, rssBytes: rssBytes(pid) }
      }),
    ]
  }

  async start(): Promise<void> {
    await this.#connections.listen(this.#folder.socketPath)
    this.#folder.openSocket()
    void removeAbandonedRunFolders()
    for (const seat of this.#seats) this.#fill(seat)
    await this.ready()
    if (!this.#closed) this.#fill(this.#spare)
  }

  /** Resolves when at least one worker takes calls. */
  async ready(): Promise<void> {
    while (this.#deps.workers().size === 0) {
      if (this.#closed) throw new AppError('ServiceUnavailable', 'The service is shutting down')
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Has a host of that kind ready, as long as this is called time and again. */
  needed(role: RoleOnDemand): void {
    if (this.#closed) return
    const seat = this.#onDemand[role]
    if (!seat.host) this.#fill(seat)
    seat.ending ??= setTimeout(() => endUnneeded(seat), UNNEEDED_MS).unref()
    seat.ending.refresh()
  }

  async stop(): Promise<void> {
    this.#closed = true
    this.#watchdog.stop()
    this.#memoryBound.stop()
    for (const { ending } of Object.values(this.#onDemand)) clearTimeout(ending)
    for (const restart of this.#restarts) clearTimeout(restart)
    await Promise.all(Array.from(this.#hosts, ({ process }) => process.dismiss()))
    for (const resolve of this.#waiting.splice(0)) resolve()
    await this.#connections.close()
    await this.#folder.remove()
  }

  /** Seats the spare, if there is one, or else a new host. */
  #fill(seat: Seat): void {
    const spare = seat === this.#spare ? undefined : this.#spare.host
    if (!spare || spare.exit) {
      seat.host = this.#newHost(seat)
      return
    }
    this.#spare.host = undefined
    seat.host = spare
    spare.seat = seat
    if (spare.worker) {
      spare.worker.place = seat.place
      prioritize(spare)
    }
    this.#fill(this.#spare)
  }

  #hostOf(pid: number): Host | undefined {
    return Array.from(this.#hosts).find(({ process }) => process.pid === pid)
  }

  /** Seats another, which takes its calls from now on, while it ends what it has begun. False when none is ready for that. */
  #replace(host: Host | undefined): boolean {
    if (!host?.worker || host.seat.host !== host) return false
    const { seat, worker } = host
    if (seat !== this.#spare && this.#spare.host?.isConnected !== true) return false
    worker.isLeaving = true
    this.#deps.activity.replacements.add(seat.place.role)
    this.#fill(seat)
    return true
  }

  #newHost(seat: Seat): Host {
    const { jail, entry, logger, snapshotPath, scripts, config } = this.#deps
    const memoryBytes = this.#memoryBytes
    this.#started += 1
    const { socketPath } = this.#folder
    const { progressPath, draftPath } = this.#folder.filesOfHost(this.#started)
    const view = { reads: [socketPath, snapshotPath], writes: [progressPath, draftPath] }
    const host: Host = {
      seat,
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
      { pid, progressPath, place: host.seat.place },
      this.#deps.events,
    )
    host.worker = worker
    host.isConnected = true
    prioritize(host)
    this.#deps.onWorkerConnected(worker)
    for (const resolve of this.#waiting.splice(0)) resolve()
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
    const { exit, worker, seat } = host
    if (!exit || host.isConnected || !this.#hosts.delete(host)) return
    if (worker) {
      this.#watchdog.forget(worker)
      this.#deps.onWorkerLost(worker, {
        cause: causeOf(exit),
        progress: progressOf(worker),
        silentMs: worker.silentMs(performance.now()),
      })
    }
    // It had left its place.
    if (seat.host !== host) return
    seat.host = undefined
    if (!exit.isDismissed) seat.losses += 1
    seat.shortLives =
      performance.now() - host.process.startedMs > STABLE_MS ? 0 : seat.shortLives + 1
    const isOnDemand = Object.values(this.#onDemand).includes(seat)
    if (!this.#closed && !isOnDemand) this.#refill(seat)
  }

  /** At once: the cause was site code, most likely. Later, when they end again and again. */
  #refill(seat: Seat): void {
    if (seat.shortLives <= QUICK_RESTARTS) {
      this.#fill(seat)
      return
    }
    const delayMs = backoffMs(seat.shortLives - QUICK_RESTARTS, { maxMs: MAX_RESTART_DELAY_MS })
    const restart = setTimeout(() => {
      this.#restarts.delete(restart)
      if (!seat.host) this.#fill(seat)
    }, delayMs)
    this.#restarts.add(restart)
  }
}

function causeOf(exit: HostExit): WorkerExit['cause'] {
  if (exit.isDismissed) return 'dismissed'
  if (exit.killed === 'memoryMb' || exit.killed === 'cpuMs') return exit.killed
  if (exit.killed) return 'other'
  return OUT_OF_MEMORY.includes(exit.signal) ? 'memoryMb' : 'other'
}
