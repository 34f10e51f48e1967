import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'

import { AppError } from '#base/app-error.ts'
import type { SandboxConfig } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'

import type { Call } from './call.ts'
import { Dispatcher } from './dispatcher.ts'
import { findNodeBinary, hostCommand } from './host-command.ts'
import { HostSupervisor } from './host-supervisor.ts'
import { failedOutcome } from './pending-call.ts'
import type {
  CallOutcome,
  ComputeJob,
  ComputeOutcome,
  FunctionSource,
  LogLine,
  PreparedFunction,
  Program,
  ProgramFunction,
  Sandbox,
  SandboxEnvironment,
  SandboxStatus,
} from './sandbox.ts'
import { rssBytes } from './watchdog.ts'

const MIN_HOSTS = 2
/** The one module of ad-hoc code, and its one function. */
const AD_HOC = 'compute.js'
const PREPARE_MS = 10_000
const PREPARE_ATTEMPTS = 2
/** Losses of hosts, through no fault of the source, that a preparation outlives. */
const MAX_INTERRUPTIONS = 8

export interface SandboxHostsDeps {
  readonly config: SandboxConfig
  readonly environment: SandboxEnvironment
  readonly logger: Logger
  /** Where snapshots are kept; private to the service. */
  readonly cacheDir: string
  /** The script that makes an isolate's global scope. */
  readonly prelude: string
  /** Absolute path of the Node that runs the hosts; the installed one when left out. */
  readonly nodeBinary?: string
  /** Absolute path of the hosts' entry; `sandbox/main.ts` when left out. */
  readonly entry?: string
  /** Milliseconds that preparing one source may take; 10 000 when left out. */
  readonly prepareMs?: number
}

/** The sandbox: hands calls to host processes and answers them, whatever becomes of a host. */
export class SandboxHosts implements Sandbox {
  readonly #dispatcher: Dispatcher
  readonly #fleet: HostSupervisor
  readonly #prepareMs: number
  #lastCall = 0
  #closed = false

  constructor(deps: SandboxHostsDeps) {
    const { config, environment, logger, cacheDir, prelude } = deps
    const entry = deps.entry ?? fileURLToPath(import.meta.resolve('#sandbox/main.ts'))
    const dispatcher = new Dispatcher(environment)
    this.#dispatcher = dispatcher
    this.#prepareMs = deps.prepareMs ?? PREPARE_MS
    this.#fleet = new HostSupervisor({
      command: hostCommand(deps.nodeBinary ?? findNodeBinary(), entry),
      logger,
      cacheDir,
      prelude,
      hosts: Math.max(MIN_HOSTS, config.hosts),
      memoryBytes: config.hostMemoryMb * 1024 * 1024,
      warmIsolates: config.warmIsolates,
      events: dispatcher.events,
      onWorkerConnected: (worker) => dispatcher.onWorkerConnected(worker),
      onWorkerLost: (worker, exit) => dispatcher.onWorkerLost(worker, exit),
      workers: () => dispatcher.workers,
    })
  }

  /** Resolves when the first host takes calls. */
  static async start(deps: SandboxHostsDeps): Promise<SandboxHosts> {
    const sandbox = new SandboxHosts(deps)
    await sandbox.#fleet.start()
    return sandbox
  }

  call(call: Call, program: Program, functionId: string): Promise<CallOutcome> {
    const definition = program.functions.get(functionId)
    if (definition) return this.#submit(call, program, definition)
    const message = `Function "${functionId}" is not part of ${program.key}`
    return Promise.resolve(failedOutcome({ kind: 'invalidCode', fault: { message } }))
  }

  async compute(job: ComputeJob): Promise<ComputeOutcome> {
    const logs: LogLine[] = []
    const { program, definition } = adHocProgram(job)
    const call = {
      site: { siteId: job.siteId, domain: job.siteDomain },
      operation: 'compute',
      requestId: job.requestId,
      authority: null,
      depth: 0,
      body: `{"payload":${job.payload}}`,
    }
    return { ...(await this.#submit(call, program, definition, logs)), logs }
  }

  async prepare(source: FunctionSource): Promise<PreparedFunction> {
    const text = JSON.stringify({ entry: source.entry, files: [...source.files] })
    const failures = { tooLong: 0, interrupted: 0 }
    while (failures.tooLong < PREPARE_ATTEMPTS && failures.interrupted < MAX_INTERRUPTIONS) {
      const prepared = await this.#fleet.prepare(text, this.#prepareMs)
      if (typeof prepared === 'object') return prepared
      failures[prepared] += 1
    }
    if (failures.tooLong < PREPARE_ATTEMPTS) throw interrupted(source.entry)
    const message = `"${source.entry}" takes too long to read: make it smaller`
    return { ok: false, fault: { message, path: source.entry } }
  }

  retire(programKey: string): void {
    this.#dispatcher.retire(programKey)
  }

  status(): SandboxStatus {
    const { workers, running, waiting } = this.#dispatcher
    return {
      ready: workers.length > 0,
      hosts: this.#fleet.processes.map(({ pid, restarts }) => ({
        pid,
        restarts: Math.max(0, restarts),
        rssBytes: rssBytes(pid),
      })),
      warmIsolates: workers.reduce((sum, worker) => sum + worker.warmIsolates, 0),
      running,
      queued: waiting,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#dispatcher.close()
    await this.#fleet.stop()
  }

  /** Ad-hoc code is what comes with `logs`. */
  #submit(
    call: Call,
    program: Program,
    definition: ProgramFunction,
    logs?: LogLine[],
  ): Promise<CallOutcome> {
    if (this.#closed) {
      const message = 'The service is shutting down'
      return Promise.resolve(failedOutcome({ kind: 'interrupted', message }))
    }
    this.#lastCall += 1
    const id = this.#lastCall
    const adHoc = logs !== undefined
    return new Promise((resolve) => {
      this.#dispatcher.submit({
        id,
        queueKey: adHoc ? `${program.siteId}!compute` : program.siteId,
        call,
        program,
        definition,
        adHoc,
        leaving: undefined,
        queuedMs: Date.now(),
        chargedMs: 0,
        logs,
        settle: resolve,
      })
    })
  }
}

const interrupted = (entry: string): AppError =>
  new AppError('ServiceUnavailable', `Reading "${entry}" was interrupted: try again`, {
    retryAfterSeconds: 1,
  })

/** A program of one function that is called once: the worker finds out whether its code is CommonJS or a module. */
function adHocProgram(job: ComputeJob): { program: Program; definition: ProgramFunction } {
  const definition: ProgramFunction = {
    functionId: AD_HOC,
    name: 'compute',
    entry: AD_HOC,
    handler: 'default',
    modules: [{ path: AD_HOC, format: 'commonjs', code: job.code }],
    env: {},
    timeoutMs: job.timeoutMs,
    memoryMb: job.memoryMb,
    stores: new Map(),
  }
  const program: Program = {
    key: `${job.siteId}!${randomUUID()}`,
    siteId: job.siteId,
    siteDomain: job.siteDomain,
    limits: job.limits,
    functions: new Map([[AD_HOC, definition]]),
  }
  return { program, definition }
}
