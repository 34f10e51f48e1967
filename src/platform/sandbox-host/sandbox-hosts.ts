import { randomUUID } from 'node:crypto'

import type { SandboxConfig } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'

import type { Call } from './call.ts'
import { Dispatcher } from './dispatcher.ts'
import { HostSupervisor } from './host-supervisor.ts'
import { failedOutcome } from './pending-call.ts'
import type { PreparerLimits } from './preparer-process.ts'
import { Preparer } from './preparer.ts'
import { openSandboxJail, type SandboxEntries, sandboxEntries } from './sandbox-jail.ts'
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
import { snapshotPathOf } from './snapshot-cache.ts'
import type { Jail } from './walls/jail.ts'

/** One for the sites whose calls are short, one for those that take long. */
const MIN_HOSTS = 2
/** Processor time of one process that prepares code, in all: nobody can still wait for it then. */
const PREPARER_CPU_SECONDS = 120
/** The one module of ad-hoc code, and its one function. */
const AD_HOC = 'compute.js'
/** What reading one source may take: 10 MB of TypeScript takes 1.5 s and 300 MB. */
const PREPARER_LIMITS = { cpuMs: 10_000, memoryBytes: 640 * 1024 * 1024 }

export interface SandboxHostsDeps {
  readonly config: SandboxConfig
  readonly environment: SandboxEnvironment
  readonly logger: Logger
  /** Where snapshots are kept; private to the service. */
  readonly cacheDir: string
  /** The script that makes an isolate's global scope. */
  readonly prelude: string
  /** What stands around every process; the walls that this machine has when left out. */
  readonly jail?: Jail
  /** What the processes run; those beside this program when left out. */
  readonly entries?: SandboxEntries
  /** What reading one source may take. */
  readonly preparerLimits?: Partial<PreparerLimits>
}

/** The sandbox: hands calls to host processes and answers them, whatever becomes of a host. */
export class SandboxHosts implements Sandbox {
  readonly #dispatcher: Dispatcher
  readonly #fleet: HostSupervisor
  readonly #preparer: Preparer
  readonly #jail: Jail
  #lastCall = 0
  #closing: Promise<void> | undefined

  private constructor(deps: SandboxHostsDeps & { readonly jail: Jail }) {
    const { config, environment, logger, cacheDir, prelude, jail } = deps
    const entries = deps.entries ?? sandboxEntries()
    const ordinaryHosts = Math.max(MIN_HOSTS, config.hosts) - 1
    const dispatcher = new Dispatcher({
      environment,
      logger,
      ordinaryHosts,
      needed: (role) => this.#fleet.needed(role),
    })
    this.#dispatcher = dispatcher
    this.#jail = jail
    const limits = { ...PREPARER_LIMITS, ...deps.preparerLimits }
    this.#preparer = new Preparer({
      command: () =>
        jail.command({
          entry: entries.preparer,
          view: { reads: [], writes: [] },
          cpuSeconds: PREPARER_CPU_SECONDS,
          memoryBytes: limits.memoryBytes,
        }),
      limits,
      logger,
    })
    this.#fleet = new HostSupervisor({
      jail,
      entry: entries.host,
      logger,
      snapshotPath: snapshotPathOf(cacheDir, prelude, jail.node),
      prelude,
      ordinaryHosts,
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
    const sandbox = new SandboxHosts({ ...deps, jail: deps.jail ?? (await openSandboxJail(deps)) })
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

  prepare(siteId: string, source: FunctionSource): Promise<PreparedFunction> {
    return this.#preparer.prepare(siteId, source)
  }

  retire(programKey: string): void {
    this.#dispatcher.retire(programKey)
  }

  status(): SandboxStatus {
    const { workers, running, waiting } = this.#dispatcher
    return {
      ready: workers.size > 0,
      hosts: this.#fleet.status,
      walls: this.#jail.walls,
      warmIsolates: Array.from(workers, (worker) => worker.warmIsolates).reduce((a, b) => a + b, 0),
      running,
      queued: waiting,
    }
  }

  /** Ends every call as interrupted. May be called again. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#dispatcher.close()
    await Promise.all([this.#preparer.stop(), this.#fleet.stop()])
  }

  /** Ad-hoc code is what comes with `logs`. */
  #submit(
    call: Call,
    program: Program,
    definition: ProgramFunction,
    logs?: LogLine[],
  ): Promise<CallOutcome> {
    if (this.#closing !== undefined) {
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
        cold: false,
        chargedMs: 0,
        logs,
        settle: resolve,
      })
    })
  }
}

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
