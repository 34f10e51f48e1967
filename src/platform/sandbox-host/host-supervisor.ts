import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { AppError } from '#base/app-error.ts'
import type { Logger } from '#platform/log/logger.ts'
import { readProgress } from '#sandbox/progress-marker.ts'
import type { Hello } from '#sandbox/protocol.ts'

import type { HostCommand } from './host-command.ts'
import { type HostExit, HostProcess } from './host-process.ts'
import { HostSocketServer, type FrameReceiver } from './host-socket-server.ts'
import type { WorkerExit } from './lost-calls.ts'
import { Watchdog } from './watchdog.ts'
import { WorkerConnection, type WorkerEvents } from './worker-connection.ts'

const WORKERS_PER_HOST = 1
/** How V8 and the allocators end a process that has no memory left. */
const OUT_OF_MEMORY: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL']

export interface HostSupervisorDeps {
  readonly command: HostCommand
  readonly logger: Logger
  readonly hosts: number
  /** Resident memory at which a host is killed. */
  readonly memoryBytes: number
  /** Warm isolates per host. */
  readonly warmIsolates: number
  readonly cacheDir: string
  readonly prelude: string
  readonly events: WorkerEvents
  onWorkerConnected(worker: WorkerConnection): void
  onWorkerLost(worker: WorkerConnection, exit: WorkerExit): void
  workers(): readonly WorkerConnection[]
}

/** One life of a host process. What it sent is read to the end before its calls are given up. */
interface HostRun {
  readonly workers: WorkerConnection[]
  sockets: number
  exit: HostExit | undefined
}

interface SupervisedHost {
  readonly process: HostProcess
  readonly index: number
  run: HostRun
}

/** The host processes of this service: started, watched, replaced, and connected to. */
export class HostSupervisor {
  readonly #deps: HostSupervisorDeps
  readonly #directory = mkdtempSync(join(tmpdir(), 'croft-'))
  readonly #connections: HostSocketServer
  readonly #watchdog: Watchdog
  readonly #hosts: readonly SupervisedHost[]
  #waiting: (() => void)[] = []
  #closed = false

  constructor(deps: HostSupervisorDeps) {
    this.#deps = deps
    this.#connections = new HostSocketServer(
      (hello, socket) => this.#accept(hello, socket),
      (error) => deps.logger.error({ err: error }, 'the socket of the sandbox hosts failed'),
    )
    this.#hosts = Array.from({ length: deps.hosts }, (_, index) => ({
      index,
      process: this.#process(index),
      run: newRun(),
    }))
    this.#watchdog = new Watchdog({
      hosts: this.processes,
      workers: () => deps.workers(),
      memoryBytes: deps.memoryBytes,
      readProgress: (worker) => bytesOf(worker.progressPath).toString('hex'),
    })
  }

  get processes(): HostProcess[] {
    return this.#hosts.map((host) => host.process)
  }

  async start(): Promise<void> {
    await this.#connections.listen(this.#socketPath)
    for (const host of this.#hosts) host.process.start()
    await this.ready()
  }

  /** Resolves when at least one worker takes calls. */
  async ready(): Promise<void> {
    while (this.#deps.workers().length === 0) {
      if (this.#closed) throw new AppError('ServiceUnavailable', 'The service is shutting down')
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  async stop(): Promise<void> {
    this.#closed = true
    this.#watchdog.stop()
    await Promise.all(this.#hosts.map((host) => host.process.stop()))
    for (const resolve of this.#waiting.splice(0)) resolve()
    await this.#connections.close()
    await rm(this.#directory, { recursive: true, force: true })
  }

  get #socketPath(): string {
    return join(this.#directory, 'hosts.sock')
  }

  #process(index: number): HostProcess {
    const { command, logger, cacheDir, prelude, warmIsolates, memoryBytes } = this.#deps
    return new HostProcess({
      command,
      logger,
      options: {
        socketPath: this.#socketPath,
        progressPath: join(this.#directory, `mark.${index}`),
        workers: WORKERS_PER_HOST,
        cacheDir,
        prelude,
        warmIsolates,
        memoryBytes,
      },
      exited: (process, exit) => this.#onExit(process, exit),
    })
  }

  #accept(hello: Hello, socket: Socket): FrameReceiver | undefined {
    const host = this.#hosts.find((one) => one.process.token === hello.token)
    if (!host) return undefined
    const receiver = this.#addWorker(host, hello, socket)
    for (const resolve of this.#waiting.splice(0)) resolve()
    return receiver
  }

  #addWorker(host: SupervisedHost, hello: Hello, socket: Socket): FrameReceiver {
    const { run } = host
    const place = {
      pid: host.process.pid,
      progressPath: `${host.process.progressPath}.${hello.index}`,
      index: host.index * WORKERS_PER_HOST + hello.index,
    }
    const worker = new WorkerConnection(socket, place, this.#deps.events)
    run.workers.push(worker)
    run.sockets += 1
    this.#deps.onWorkerConnected(worker)
    return {
      receive: (text) => worker.receive(text),
      closed: () => this.#onSocketClosed(host, run),
    }
  }

  /** A host without its connections is of no use; most often it is just ending. */
  #onSocketClosed(host: SupervisedHost, run: HostRun): void {
    run.sockets -= 1
    if (!run.exit && host.run === run && !this.#closed) host.process.end()
    this.#reap(run)
  }

  #onExit(process: HostProcess, exit: HostExit): void {
    const host = this.#hosts.find((one) => one.process === process)
    if (!host) return
    host.run.exit = exit
    this.#reap(host.run)
    host.run = newRun()
  }

  #reap(run: HostRun): void {
    if (!run.exit || run.sockets > 0) return
    const nowMs = Date.now()
    for (const worker of run.workers.splice(0)) {
      const progress = readProgress(bytesOf(worker.progressPath))
      const exit: WorkerExit = {
        cause: causeOf(run.exit),
        progress,
        silentMs: worker.silentMs(nowMs),
      }
      this.#watchdog.forget(worker)
      this.#deps.onWorkerLost(worker, exit)
    }
  }
}

const newRun = (): HostRun => ({
  workers: [],
  sockets: 0,
  exit: undefined,
})

function causeOf(exit: HostExit): WorkerExit['cause'] {
  if (exit.killed) return exit.killed
  return OUT_OF_MEMORY.includes(exit.signal) ? 'memoryMb' : 'other'
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}
