import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'

import { withTimeout } from '#base/with-timeout.ts'
import type { SandboxConfig } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'
import { warmUpScript } from '#sandbox/host/warm-up.ts'
import type { GuestScripts } from '#sandbox/protocol/part-names.ts'

import type { Call } from './call.ts'
import { Dispatcher } from './dispatcher.ts'
import { HostSupervisor } from './host-supervisor.ts'
import type { Jail } from './isolation/jail.ts'
import { failedOutcome, newCall, type SubmittedCode } from './pending-call.ts'
import type { PreparerLimits } from './preparer-process.ts'
import { Preparer } from './preparer.ts'
import { openSandboxJail, type SandboxEntries, sandboxEntries } from './sandbox-jail.ts'
import type {
  CallOutcome,
  CallTarget,
  ComputeJob,
  ComputeOutcome,
  FunctionSource,
  LoadJob,
  LogLine,
  Module,
  PreparedFunction,
  Program,
  ProgramFunction,
  Sandbox,
  SandboxEnvironment,
  SandboxStatus,
  SiteCalls,
} from './sandbox.ts'
import { snapshotPathOf } from './snapshot-cache.ts'

/** One for the sites whose calls are short, one for those that take a little longer. */
const MIN_HOSTS = 2
/** Processor time of one process that prepares code, in all: no caller can still wait for it then. */
const PREPARER_CPU_SECONDS = 120
/** One function of a site is loaded at a time; how many may wait, and how long: no visitor waits for it. */
const LOAD_LIMITS = { concurrency: 1, queueLength: 2048, queueMs: 120_000 }
/** The longest that a top-level `await` may take, however long the calls of the function may. */
const MAX_LOAD_MS = 10_000
/** The one module of ad-hoc code, and its one function; the other where it is TypeScript. */
const AD_HOC = 'compute.js'
const AD_HOC_TYPESCRIPT = 'compute.ts'
/** What reading one source may take: 10 MB of TypeScript takes 1.5 s and 300 MB. */
const PREPARER_LIMITS = { cpuMs: 5000, memoryBytes: 640 * 1024 * 1024 }
/** Memory of the sandbox from which on a second process may prepare code beside the first. */
const MB_FOR_TWO_PREPARERS = 2048

export interface SandboxHostsDeps {
  readonly config: SandboxConfig
  readonly environment: SandboxEnvironment
  readonly logger: Logger
  /** Where snapshots are kept; private to the service. */
  readonly cacheDir: string
  /** What makes an isolate's global scope. */
  readonly scripts: GuestScripts
  /** The walls around every process; the walls that this machine has when left out. */
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
    const { config, environment, logger, cacheDir, scripts, jail } = deps
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
      processes: config.memoryMb < MB_FOR_TWO_PREPARERS ? 1 : Math.min(2, availableParallelism()),
      limits,
      logger,
    })
    this.#fleet = new HostSupervisor({
      jail,
      entry: entries.host,
      logger,
      snapshotPath: snapshotPathOf(cacheDir, [scripts.prelude, warmUpScript()], jail.node),
      scripts,
      ordinaryHosts,
      config,
      activity: dispatcher.activity,
      events: dispatcher.events,
      onWorkerConnected: (worker) => dispatcher.onWorkerConnected(worker),
      onWorkerLost: (worker, exit) => dispatcher.onWorkerLost(worker, exit),
      workers: () => dispatcher.workers,
    })
  }

  /** Resolves before the first host takes calls: those that come before wait for it. */
  static async open(deps: SandboxHostsDeps): Promise<SandboxHosts> {
    const sandbox = new SandboxHosts({ ...deps, jail: deps.jail ?? (await openSandboxJail(deps)) })
    await sandbox.#fleet.open()
    return sandbox
  }

  /** Resolves when the first host takes calls. */
  static async start(deps: SandboxHostsDeps): Promise<SandboxHosts> {
    const sandbox = await SandboxHosts.open(deps)
    await sandbox.#fleet.ready()
    return sandbox
  }

  call(call: Call, program: Program, functionId: string): Promise<CallOutcome> {
    return new Promise((ended) => this.begin(call, { program, functionId }, ended))
  }

  profile(call: Call, program: Program, functionId: string): Promise<CallOutcome> {
    const definition = program.functions.get(functionId)
    if (!definition) return this.call(call, program, functionId)
    const code: SubmittedCode = { program, definition, purpose: 'profile', logs: [] }
    return new Promise((ended) => this.#submit(call, code, ended))
  }

  begin(
    call: Call,
    { program, functionId }: CallTarget,
    ended: (outcome: CallOutcome) => void,
  ): void {
    const definition = program.functions.get(functionId)
    if (definition) {
      this.#submit(call, { program, definition, purpose: 'operation', logs: undefined }, ended)
      return
    }
    const message = `Function "${functionId}" is not part of ${program.key}`
    ended(failedOutcome({ kind: 'invalidCode', fault: { message } }))
  }

  /** Code that V8 cannot read, of which nothing has run then, may be TypeScript. */
  async compute(job: ComputeJob): Promise<ComputeOutcome> {
    const { siteId, code } = job
    const outcome = await this.#compute(job, [{ path: AD_HOC, format: 'commonjs', code }])
    if (outcome.ok || outcome.failure.kind !== 'invalidCode') return outcome
    const { isSyntax, line = 0 } = outcome.failure.fault
    if (isSyntax !== true) return outcome
    const files = new Map([[AD_HOC_TYPESCRIPT, code]])
    const prepared = await this.#preparer.prepare(siteId, { entry: AD_HOC_TYPESCRIPT, files })
    if (prepared.ok) return this.#compute(job, prepared.modules)
    // What is wrong with it is where the better reader stopped.
    if ((prepared.fault.line ?? 0) <= line) return outcome
    return { ...outcome, failure: { kind: 'invalidCode', fault: prepared.fault } }
  }

  async #compute(job: ComputeJob, modules: readonly Module[]): Promise<ComputeOutcome> {
    const logs: LogLine[] = []
    const { program, definition } = adHocProgram(job, modules)
    const call = internalCall(job, 'compute', `{"payload":${job.payload}}`)
    const code: SubmittedCode = { program, definition, purpose: 'compute', logs }
    const outcome = await new Promise<CallOutcome>((ended) => this.#submit(call, code, ended))
    return { ...outcome, logs }
  }

  load({ siteId, siteDomain, limits, ...code }: LoadJob): Promise<CallOutcome> {
    const timeoutMs = Math.min(code.timeoutMs, MAX_LOAD_MS)
    const definition = { ...code, timeoutMs, functionId: code.name, stores: new Map() }
    const program = soleProgram(
      { siteId, siteDomain, limits: { ...limits, ...LOAD_LIMITS } },
      definition,
    )
    const call = internalCall({ siteId, siteDomain, requestId: program.key }, 'load', '{}')
    const submitted: SubmittedCode = { program, definition, purpose: 'load', logs: [] }
    return new Promise((ended) => this.#submit(call, submitted, ended))
  }

  prepare(siteId: string, source: FunctionSource): Promise<PreparedFunction> {
    return this.#preparer.prepare(siteId, source)
  }

  retire(program: Program): void {
    this.#dispatcher.retire(program)
  }

  async finishWork(deadlineMs: number): Promise<void> {
    await withTimeout(this.#dispatcher.workDone(), deadlineMs, () => undefined)
  }

  status(): SandboxStatus {
    const { workers, running, suspended, waiting, activity } = this.#dispatcher
    return {
      ready: this.#fleet.isReady,
      hosts: this.#fleet.status,
      walls: this.#jail.walls,
      warmIsolates: Array.from(workers, (worker) => worker.warmIsolates).reduce((a, b) => a + b, 0),
      running,
      suspended,
      queued: waiting,
      activity,
    }
  }

  callsOf(siteId: string): SiteCalls {
    return this.#dispatcher.callsOf(siteId)
  }

  /** Ends every call as interrupted. May be called again. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#dispatcher.close()
    await Promise.all([this.#preparer.stop(), this.#fleet.stop()])
  }

  #submit(call: Call, code: SubmittedCode, settle: (outcome: CallOutcome) => void): void {
    if (this.#closing !== undefined) {
      const message = 'The service is shutting down'
      settle(failedOutcome({ kind: 'interrupted', message }))
      return
    }
    this.#lastCall += 1
    const pending = newCall(this.#lastCall, call, code, settle)
    this.#fleet.called(pending.queuedMs)
    this.#dispatcher.submit(pending)
  }
}

/** A program of one function that is called once: the worker finds out whether its code is CommonJS or a module. */
function adHocProgram(
  job: ComputeJob,
  modules: readonly Module[],
): { program: Program; definition: ProgramFunction } {
  const definition: ProgramFunction = {
    functionId: AD_HOC,
    name: 'compute',
    entry: modules[0]?.path ?? AD_HOC,
    handler: 'default',
    modules,
    env: {},
    timeoutMs: job.timeoutMs,
    memoryMb: job.memoryMb,
    stores: new Map(),
  }
  return { program: soleProgram(job, definition), definition }
}

/** A program of one function, which no other call has. */
const soleProgram = (
  { siteId, siteDomain, limits }: Pick<Program, 'siteId' | 'siteDomain' | 'limits'>,
  definition: ProgramFunction,
): Program => ({
  key: `${siteId}!${randomUUID()}`,
  siteId,
  siteDomain,
  limits,
  functions: new Map([[definition.functionId, definition]]),
})

const internalCall = (
  { siteId, siteDomain, requestId }: Pick<ComputeJob, 'siteId' | 'siteDomain' | 'requestId'>,
  operation: string,
  body: string,
): Call => ({
  site: { siteId, domain: siteDomain },
  operation,
  requestId,
  authority: null,
  depth: 0,
  body,
})
