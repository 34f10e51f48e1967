import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { SandboxConfig } from '#config/config.ts'
import { SandboxHosts, type SandboxHostsDeps } from '#platform/sandbox-host/sandbox-hosts.ts'
import { loadGuestScripts } from '#platform/sandbox-host/sandbox-programs.ts'
import type {
  CallOutcome,
  HostCall,
  LogLine,
  Module,
  Program,
  ProgramFunction,
  Sandbox,
  SiteLimits,
} from '#platform/sandbox-host/sandbox.ts'

import { silentLog } from './silent-log.ts'

export const LIMITS: SiteLimits = {
  concurrency: 64,
  suspendedCalls: 1000,
  openStreams: 1000,
  queueLength: 512,
  queueMs: 20_000,
  cpuMs: 200,
  resultBytes: 64 * 1024,
  logLineLength: 80,
  logLines: 5,
}

export const SANDBOX_CONFIG: SandboxConfig = {
  hosts: 2,
  hostMemoryMb: 1024,
  memoryMb: 65_536,
  warmIsolates: 50,
  uid: undefined,
  require: undefined,
}

export interface ProgramOptions {
  readonly limits?: Partial<SiteLimits>
  readonly fn?: Partial<ProgramFunction>
  readonly siteId?: string
}

/** What site code asked and printed, and how its questions are answered. */
export interface SandboxEvents {
  readonly lines: LogLine[]
  readonly hostCalls: HostCall[]
  answer: (call: HostCall) => Promise<string>
}

/** Real host processes, and what they asked and printed. */
export class TestSandbox implements AsyncDisposable {
  readonly hosts: Sandbox
  readonly events: SandboxEvents
  readonly cacheDir: string
  readonly #limits: SiteLimits
  #sites = 0
  #requests = 0

  private constructor(
    hosts: Sandbox,
    { events, cacheDir, limits }: Pick<TestSandbox, 'events' | 'cacheDir'> & { limits: SiteLimits },
  ) {
    this.hosts = hosts
    this.events = events
    this.cacheDir = cacheDir
    this.#limits = limits
  }

  /** `limits` are what a program has that names none. `deps` may be what `builtSandbox` gives; left out, it is the sources. */
  static async start(
    config: Partial<SandboxConfig> = {},
    limits: Partial<SiteLimits> = {},
    deps: Partial<
      Pick<SandboxHostsDeps, 'cacheDir' | 'entries' | 'jail' | 'scripts' | 'preparerLimits'>
    > = {},
  ): Promise<TestSandbox> {
    const cacheDir = await mkdtemp(join(tmpdir(), 'croft-test-sandbox-'))
    const events: SandboxEvents = { lines: [], hostCalls: [], answer: async () => 'null' }
    const hosts = await SandboxHosts.start({
      config: { ...SANDBOX_CONFIG, ...config },
      environment: {
        hostCall: (call) => {
          events.hostCalls.push(call)
          return events.answer(call)
        },
        log: (lines) => void events.lines.push(...lines),
      },
      logger: silentLog,
      cacheDir,
      scripts: deps.scripts ?? (await loadGuestScripts()),
      ...deps,
    })
    return new TestSandbox(hosts, { events, cacheDir, limits: { ...LIMITS, ...limits } })
  }

  /** A site of its own with one function made of `code`. */
  program(code: string, options: ProgramOptions = {}): Program {
    return this.programOf([{ path: 'main.js', format: 'esm', code }], options)
  }

  programOf(modules: readonly Module[], options: ProgramOptions = {}): Program {
    this.#sites += 1
    const siteId = options.siteId ?? `site_${this.#sites}`
    const definition: ProgramFunction = {
      functionId: 'main',
      name: 'main',
      entry: modules[0]?.path ?? 'main.js',
      handler: 'default',
      env: {},
      timeoutMs: 10_000,
      memoryMb: 64,
      stores: new Map(),
      ...options.fn,
      modules,
    }
    return {
      key: `${siteId}@${this.#sites}`,
      siteId,
      siteDomain: `${siteId}.test`,
      limits: { ...this.#limits, ...options.limits },
      functions: new Map([['main', definition]]),
    }
  }

  call(program: Program, payload: unknown = null, functionId = 'main'): Promise<CallOutcome> {
    return this.raw(program, JSON.stringify({ payload }), functionId)
  }

  raw(program: Program, body: string, functionId = 'main'): Promise<CallOutcome> {
    this.#requests += 1
    const requestId = `req_${this.#requests}`
    const site = { siteId: program.siteId, domain: program.siteDomain }
    const call = { site, operation: 'op', requestId, authority: null, depth: 0, body }
    return this.hosts.call(call, program, functionId)
  }

  /** Runs code once on a site of its own. */
  run(code: string, options: ProgramOptions = {}): Promise<CallOutcome> {
    return this.call(this.program(code, options))
  }

  /** Calls another site without pause until `work` is done; gives what became of those calls. */
  async beside<Result>(
    work: () => Promise<Result>,
  ): Promise<{ result: Result; others: CallOutcome[] }> {
    const other = this.program('export default ({ payload }) => payload + 1', {
      limits: { cpuMs: 1000 },
    })
    const others: CallOutcome[] = []
    let done = false
    const calling = (async () => {
      while (!done || others.length < 20) others.push(await this.call(other, others.length))
    })()
    try {
      return { result: await work(), others }
    } finally {
      done = true
      await calling
    }
  }

  /** What a site has printed. */
  linesOf(program: Program): LogLine[] {
    return this.events.lines.filter((line) => line.siteId === program.siteId)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hosts[Symbol.asyncDispose]()
    await rm(this.cacheDir, { recursive: true, force: true })
  }
}

/** The value of a call that succeeded. */
export function valueOf(outcome: CallOutcome): unknown {
  if (!outcome.ok) throw new Error(`The call failed: ${JSON.stringify(outcome.failure)}`)
  return JSON.parse(outcome.result)
}
