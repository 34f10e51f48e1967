import { randomFillSync } from 'node:crypto'

import ivm from 'isolated-vm'

import type { QuickCrypto } from '#sandbox/crypto/quick-crypto.ts'
import { loadModules } from '#sandbox/modules/module-graph.ts'
import { fileOfModule } from '#sandbox/modules/module-imports.ts'
import { writtenPlace } from '#sandbox/modules/original-place.ts'
import { FROM_GUEST } from '#sandbox/protocol/grammars.ts'
import {
  type FromGuest,
  loadCpuMs,
  type SlotDefinition,
  type ModuleSource,
} from '#sandbox/protocol/protocol.ts'
import { readRecords } from '#sandbox/protocol/records.ts'

import type { CpuClock } from './cpu-clock.ts'
import { domainInAscii } from './domain-in-ascii.ts'
import {
  endingOf,
  type EntryResult,
  isTimeout,
  loadingOf,
  type LoadOutcome,
  lost,
  type StopCause,
} from './entry-result.ts'
import type { GuestParts } from './guest-parts.ts'
import type { GuestIsolate } from './isolate.ts'
import { runningCode, type SiteActivity, waitingCode } from './site-frames.ts'
import { steadyNowMs } from './steady-clock.ts'

/** Processor time that what is already finished may take to be read out after a stretch was stopped. */
const SALVAGE_MS = 50

/** How often that is tried where the machine gives no processor; each time it may wait twice as long. */
const SALVAGE_TRIES = 8
const WAITS_LENGTH = 4000
const NOTHING_SETTLES =
  'waiting for a promise: neither a timer nor a question to the service is open that could settle it'

/** What a context asks of its worker while it runs. */
export interface ContextServices {
  readonly parts: GuestParts
  readonly crypto: QuickCrypto
  readonly cpu: CpuClock
  /** How often its calls were begun before, in contexts that got too little of a processor. */
  readonly tries: number
}

/** What a context's host calls in it. */
interface RuntimeReferences {
  readonly boot: ivm.Reference
  readonly files: ivm.Reference
  readonly define: ivm.Reference
  readonly names: ivm.Reference
  readonly entry: ivm.Reference
  readonly run: ivm.Reference
  readonly rejected: ivm.Reference
  readonly take: ivm.Reference
  readonly waits: ivm.Reference
}

/** One function's global scope inside its program's isolate. */
export class GuestContext {
  readonly home: GuestIsolate
  readonly #definition: SlotDefinition
  readonly #context: ivm.Context
  readonly #runtime: RuntimeReferences
  readonly #collect: ivm.Reference
  readonly #cpu: CpuClock
  readonly #tries: number
  /** Processor time that what runs now may take. */
  #limitMs = 0
  /** When it is to be looked at whether it has: no earlier can it be so. */
  #endMs = Infinity
  /** The call that asked its host for more than that, or 0; undefined when none did. */
  #overran: number | undefined

  constructor(home: GuestIsolate, definition: SlotDefinition, services: ContextServices) {
    const { parts, crypto, cpu, tries } = services
    this.home = home
    this.#definition = definition
    this.#cpu = cpu
    this.#tries = tries
    this.#context = home.context()
    this.#runtime = runtimeReferences(this.#context)
    this.#collect = this.#context.global.getSync('gc', { reference: true }) as ivm.Reference
    const { limits, site, env, handler, entry, schemas } = bootParts(definition)
    const moved = definition.modules.filter(({ map }) => map !== undefined)
    const movedPaths = Object.fromEntries(moved.map(({ path }) => [path, true]))
    const config = JSON.stringify({
      ...limits,
      site,
      env,
      handler,
      entry,
      schemas,
      moved: movedPaths,
      nowMs: steadyNowMs(),
    })
    const locate = new ivm.Callback((path: unknown, line: unknown, column: unknown) =>
      this.#hostWork(0, () =>
        writtenPlace(moved, path, { line: Number(line), column: Number(column) }),
      ),
    )
    const entropy = new ivm.Callback((bytes: number) =>
      this.#hostWork(0, () => randomFillSync(new Uint8Array(bytes)).buffer),
    )
    const subtle = new ivm.Callback(
      (call: number, operation: string, request: string, ...parts: readonly unknown[]) =>
        this.#hostWork(call, () => crypto.answer(operation, request, parts)),
    )
    const ascii = new ivm.Callback((domain: unknown) =>
      this.#hostWork(0, () => domainInAscii(domain)),
    )
    const part = parts.callback({ isolate: home.isolate, context: this.#context })
    this.#runtime.boot.applySync(undefined, [
      config,
      entropy,
      part,
      subtle,
      ascii,
      moved.length > 0 ? locate : undefined,
    ])
    giveFiles(definition, this.#runtime)
  }

  /** Compiles and evaluates the modules. What they print or ask is in the entry. */
  load(): { readonly loading: LoadOutcome; readonly entry: EntryResult } {
    const startedMs = this.#begin(loadCpuMs(this.#definition))
    let thrown: { readonly error: unknown } | undefined
    try {
      loadModules(this.home.isolate, this.#context, {
        definition: this.#definition,
        runtime: this.#runtime,
        timeoutMs: () => this.#restWallMs(),
      })
    } catch (error) {
      thrown = { error }
    }
    const entry = this.#finish(startedMs, thrown)
    const loading = loadingOf(entry, thrown, this.#definition)
    return { loading, entry: { ...entry, uncaught: undefined } }
  }

  /** Runs one section, or with an empty one goes on with what the last entry left. */
  enter(section: string, maxCalls: number): EntryResult {
    const { cpuMs } = this.#definition.limits
    const startedMs = this.#begin(cpuMs)
    let thrown: { readonly error: unknown } | undefined
    try {
      this.#runtime.run.applySync(undefined, [section, steadyNowMs(), cpuMs / 4, maxCalls], {
        timeout: this.#cpu.wallMsFor(cpuMs, this.#tries),
      })
    } catch (error) {
      thrown = { error }
    }
    const taken = thrown !== undefined && this.#offer(thrown.error)
    const entry = this.#finish(startedMs, thrown)
    return taken ? { ...entry, uncaught: undefined } : entry
  }

  /** Whether the site's own listeners handled an unhandled rejection; they may use what is left of the time. */
  #offer(error: unknown): boolean {
    if (this.home.disposed || isTimeout(error) || this.#restMs() <= 0) return false
    const isError = error instanceof Error
    const told = isError ? [error.name, error.message, error.stack ?? ''] : ['', error, '']
    try {
      const options = { timeout: this.#restWallMs() }
      return this.#runtime.rejected.applySync(undefined, told, options) === true
    } catch {
      // An error of a listener matters less than the one that it was called for.
      return false
    }
  }

  /** What a call waits for. Site code that formats stacks may run before that, and is not waited for. */
  waits(call: number): SiteActivity {
    this.#cpu.begin(performance.now())
    const found = this.#readOut(SALVAGE_MS, (timeout) =>
      this.#runtime.waits.applySync(undefined, [call], { timeout }),
    )
    if (!('text' in found)) return {}
    const { text } = found
    const said = typeof text === 'string' && text !== '' ? text : NOTHING_SETTLES
    return waitingCode(said.slice(0, WAITS_LENGTH), this.#definition.modules)
  }

  /** Collects what is short-lived in the whole isolate: 0.1 ms. */
  collect(): void {
    if (!this.home.disposed) this.#collect.applySync(undefined, [true])
  }

  /** Every reference must be released, or the isolate never frees the context. */
  release(): void {
    if (this.home.disposed) return
    for (const reference of Object.values(this.#runtime)) (reference as ivm.Reference).release()
    this.#collect.release()
    this.#context.release()
  }

  #begin(limitMs: number): number {
    const nowMs = performance.now()
    this.#cpu.begin(nowMs)
    this.#limitMs = limitMs
    this.#endMs = nowMs + limitMs
    return nowMs
  }

  /** Processor time that is left for what runs. */
  #restMs(): number {
    return this.#limitMs - this.#cpu.usedMs
  }

  #restWallMs(): number {
    return this.#cpu.wallMsFor(Math.max(1, this.#restMs()), this.#tries)
  }

  /**
   * Does host work for the code that runs. isolated-vm stops its clock during that work, so code that calls without end would
   * never be stopped: it ends here, with its isolate. Only code of the prelude calls this, which V8 leaves at once.
   */
  #hostWork<Result>(call: number, work: () => Result): Result {
    const result = work()
    if (performance.now() > this.#endMs && !this.home.disposed) {
      const restMs = this.#restMs()
      this.#endMs = performance.now() + restMs
      if (restMs <= 0) {
        this.#overran = call
        this.home.dispose()
      }
    }
    return result
  }

  #finish(startedMs: number, thrown: { readonly error: unknown } | undefined): EntryResult {
    const elapsedMs = performance.now() - startedMs
    this.#endMs = Infinity
    const time = { elapsedMs, usedMs: thrown || this.home.disposed ? this.#cpu.usedMs : elapsedMs }
    if (this.home.disposed) return this.#lost(time)
    const stopped = this.#stopOf(thrown, time)
    const taken = thrown ? this.#salvage(stopped) : this.#take()
    const activity = runningCode(thrown?.error, this.#definition.modules)
    if (typeof taken === 'string') return { ...lost(taken, this.#timeSince(startedMs)), activity }
    if (!taken) return { ...this.#lost(this.#timeSince(startedMs)), activity }
    const [begun, current] = taken[0]?.kind === 'state' ? taken[0].numbers : [0, 0]
    return { records: taken, ...time, begun, current, activity, ...endingOf(thrown, stopped) }
  }

  #timeSince(startedMs: number) {
    return { elapsedMs: performance.now() - startedMs, usedMs: this.#cpu.usedMs }
  }

  /** Whether isolated-vm ended it: it looks at the clock on the wall, and what decides is the processor time. */
  #stopOf(
    thrown: { readonly error: unknown } | undefined,
    { elapsedMs, usedMs }: Pick<EntryResult, 'elapsedMs' | 'usedMs'>,
  ): StopCause | undefined {
    if (!thrown || !isTimeout(thrown.error) || elapsedMs < this.#limitMs) return undefined
    return usedMs >= this.#limitMs ? 'cpuMs' : 'starved'
  }

  #lost(time: Pick<EntryResult, 'elapsedMs' | 'usedMs'>): EntryResult {
    if (this.#overran !== undefined) return lost('cpuMs', time, this.#overran)
    return lost(this.home.disposed ? 'memoryMb' : 'cpuMs', time)
  }

  /** Undefined when the isolate gives nothing that can be read. */
  #take(): FromGuest[] | undefined {
    return recordsOf(() => this.#runtime.take.applySync(undefined, [false]))
  }

  /**
   * The same after a stretch that threw or was stopped: what the site left may run first, and without end. It may use what
   * is left of the stretch's time.
   */
  #salvage(stopped: StopCause | undefined): FromGuest[] | StopCause | undefined {
    const budgetMs = Math.max(SALVAGE_MS, stopped === undefined ? this.#restMs() : 0)
    const found = this.#readOut(budgetMs, (timeout) =>
      this.#runtime.take.applySync(undefined, [true], { timeout }),
    )
    if ('text' in found) return recordsOf(() => found.text)
    return found.failed === 'starved' ? (stopped ?? 'starved') : undefined
  }

  /** Reads something out of the isolate that can be read again: it is, where another process had the processor. */
  #readOut(
    budgetMs: number,
    read: (timeoutMs: number) => unknown,
  ): { readonly text: unknown } | { readonly failed: 'thrown' | 'starved' } {
    const startMs = this.#cpu.usedMs
    for (let tries = 0; tries < SALVAGE_TRIES && !this.home.disposed; tries += 1) {
      const restMs = budgetMs - (this.#cpu.usedMs - startMs)
      if (restMs <= 0) return { failed: 'thrown' }
      try {
        return { text: read(this.#cpu.wallMsFor(restMs, tries)) }
      } catch (error) {
        if (!isTimeout(error)) return { failed: 'thrown' }
      }
    }
    return { failed: this.home.disposed ? 'thrown' : 'starved' }
  }
}

function recordsOf(read: () => unknown): FromGuest[] | undefined {
  try {
    const text = read()
    return typeof text === 'string' ? readRecords(text, FROM_GUEST) : undefined
  } catch {
    // Site code may have written it.
    return undefined
  }
}

function bootParts(definition: SlotDefinition) {
  const { siteId, siteDomain, env, handler, entry, limits, schemas } = definition
  return { limits, env, handler, entry, schemas, site: { siteId, siteDomain } }
}

/** Lets site code read the files of the artifact that came with the function, and nothing else of this machine. */
function giveFiles({ modules }: SlotDefinition, runtime: RuntimeReferences): void {
  const files = new Map<unknown, ModuleSource>()
  for (const module of modules) {
    const path = fileOfModule(module.path)
    if (path !== undefined) files.set(path, module)
  }
  if (files.size === 0) return
  const read = new ivm.Callback((path: unknown): string | undefined => {
    const found = files.get(path)
    return found && String(JSON.parse(found.code))
  })
  runtime.files.applySync(undefined, [read])
}

/** Takes them; the object that had them is released. */
function runtimeReferences(context: ivm.Context): RuntimeReferences {
  const croft = context.global.getSync('__croft', { reference: true }) as ivm.Reference
  const get = (name: keyof RuntimeReferences): ivm.Reference =>
    croft.getSync(name, { reference: true }) as ivm.Reference
  const runtime: RuntimeReferences = {
    boot: get('boot'),
    files: get('files'),
    define: get('define'),
    names: get('names'),
    entry: get('entry'),
    run: get('run'),
    rejected: get('rejected'),
    take: get('take'),
    waits: get('waits'),
  }
  croft.release()
  return runtime
}
