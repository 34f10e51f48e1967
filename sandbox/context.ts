import { randomFillSync } from 'node:crypto'

import ivm from 'isolated-vm'

import type { QuickCrypto } from './crypto/quick-crypto.ts'
import { domainInAscii } from './domain-in-ascii.ts'
import {
  endingOf,
  type EntryResult,
  isTimeout,
  loadingOf,
  type LoadOutcome,
  lost,
} from './entry-result.ts'
import { FROM_GUEST } from './grammars.ts'
import type { GuestParts } from './guest-parts.ts'
import type { GuestIsolate } from './isolate.ts'
import { loadModules } from './module-graph.ts'
import { fileOfModule } from './module-imports.ts'
import { originalPlace, type Place } from './original-place.ts'
import type { FromGuest, ModuleSource, SlotDefinition } from './protocol.ts'
import { readRecords } from './records.ts'
import { type RuntimeReferences, runtimeReferences } from './runtime-references.ts'
import { runningCode, type SiteActivity, waitingCode } from './site-frames.ts'
import { steadyNowMs } from './steady-clock.ts'

/** How long what is already finished may take to be read out after a stretch was stopped. */
const SALVAGE_MS = 50
const WAITS_LENGTH = 4000
const NOTHING_SETTLES =
  'waiting for a promise: neither a timer nor a question to the service is open that could settle it'

/** What a context asks of its worker while it runs. */
export interface ContextServices {
  readonly parts: GuestParts
  readonly crypto: QuickCrypto
}

/** One function's global scope inside its program's isolate. */
export class GuestContext {
  readonly home: GuestIsolate
  readonly #definition: SlotDefinition
  readonly #context: ivm.Context
  readonly #runtime: RuntimeReferences
  readonly #collect: ivm.Reference
  /** When what runs now has computed as long as it may. */
  #endMs = Infinity
  /** The call that asked its host for more than that, or 0; undefined when none did. */
  #overran: number | undefined

  constructor(home: GuestIsolate, definition: SlotDefinition, { parts, crypto }: ContextServices) {
    this.home = home
    this.#definition = definition
    this.#context = home.context()
    this.#runtime = runtimeReferences(this.#context)
    this.#collect = this.#context.global.getSync('gc', { reference: true }) as ivm.Reference
    const { limits, site, env, handler, entry } = bootParts(definition)
    const moved = definition.modules.filter(({ map }) => map !== undefined)
    const movedPaths = Object.fromEntries(moved.map(({ path }) => [path, true]))
    const config = JSON.stringify({
      ...limits,
      site,
      env,
      handler,
      entry,
      moved: movedPaths,
      nowMs: steadyNowMs(),
    })
    const locate = new ivm.Callback((path: unknown, line: unknown, column: unknown) =>
      this.#hostWork(0, () => written(moved, path, { line: Number(line), column: Number(column) })),
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
    const startedMs = this.#begin()
    let thrown: { readonly error: unknown } | undefined
    try {
      loadModules(this.home.isolate, this.#context, {
        definition: this.#definition,
        runtime: this.#runtime,
        timeoutMs: this.#definition.limits.cpuMs,
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
    const startedMs = this.#begin()
    let thrown: { readonly error: unknown } | undefined
    try {
      this.#runtime.run.applySync(undefined, [section, steadyNowMs(), cpuMs / 4, maxCalls], {
        timeout: cpuMs,
      })
    } catch (error) {
      thrown = { error }
    }
    const taken = thrown !== undefined && this.#offer(thrown.error, startedMs)
    const entry = this.#finish(startedMs, thrown)
    return taken ? { ...entry, uncaught: undefined } : entry
  }

  /** Whether the site's own listeners took a rejection that nobody handled; they may use what is left of the time. */
  #offer(error: unknown, startedMs: number): boolean {
    const timeout = this.#definition.limits.cpuMs - (performance.now() - startedMs)
    if (this.home.disposed || timeout <= 0 || isTimeout(error)) return false
    const isError = error instanceof Error
    const told = isError ? [error.name, error.message, error.stack ?? ''] : ['', error, '']
    try {
      const options = { timeout: Math.ceil(timeout) }
      return this.#runtime.rejected.applySync(undefined, told, options) === true
    } catch {
      // What a listener has done wrong is less than what it was told of.
      return false
    }
  }

  /** What a call waits for. Site code that formats stacks may run meanwhile, and is not waited for. */
  waits(call: number): SiteActivity {
    if (this.home.disposed) return {}
    try {
      const text: unknown = this.#runtime.waits.applySync(undefined, [call], {
        timeout: SALVAGE_MS,
      })
      const said = typeof text === 'string' && text !== '' ? text : NOTHING_SETTLES
      return waitingCode(said.slice(0, WAITS_LENGTH), this.#definition.modules)
    } catch {
      return {}
    }
  }

  /** Collects what is short-lived in the whole isolate: 0.1 ms. */
  collect(): void {
    if (!this.home.disposed) this.#collect.applySync(undefined, [true])
  }

  /** Every reference must be let go, or the isolate never frees the context. */
  release(): void {
    if (this.home.disposed) return
    for (const reference of Object.values(this.#runtime)) (reference as ivm.Reference).release()
    this.#collect.release()
    this.#context.release()
  }

  #begin(): number {
    const nowMs = performance.now()
    this.#endMs = nowMs + this.#definition.limits.cpuMs
    return nowMs
  }

  /**
   * Does something for the code that runs. isolated-vm stops its clock meanwhile, so that code which asks without end would
   * never be stopped: it ends here, with its isolate. Only code of the prelude calls this, which V8 leaves at once.
   */
  #hostWork<Result>(call: number, work: () => Result): Result {
    const result = work()
    if (performance.now() > this.#endMs && !this.home.disposed) {
      this.#overran = call
      this.home.dispose()
    }
    return result
  }

  #finish(startedMs: number, thrown: { readonly error: unknown } | undefined): EntryResult {
    const elapsedMs = performance.now() - startedMs
    this.#endMs = Infinity
    if (this.home.disposed) return this.#lost(elapsedMs)
    const taken = this.#take(thrown ? { timeout: SALVAGE_MS } : {})
    const activity = runningCode(thrown?.error, this.#definition.modules)
    if (!taken) return { ...this.#lost(elapsedMs), activity }
    const [begun, current] = taken[0]?.kind === 'state' ? taken[0].numbers : [0, 0]
    const entry = { records: taken, elapsedMs, begun, current, activity }
    return { ...entry, ...endingOf(thrown, elapsedMs, this.#definition) }
  }

  #lost(elapsedMs: number): EntryResult {
    if (this.#overran !== undefined) return lost('cpuMs', elapsedMs, this.#overran)
    return lost(this.home.disposed ? 'memoryMb' : 'cpuMs', elapsedMs)
  }

  /** Undefined when the isolate gives nothing that can be read. */
  #take(options: { timeout?: number }): FromGuest[] | undefined {
    try {
      const text: unknown = this.#runtime.take.applySync(undefined, [], options)
      return typeof text === 'string' ? readRecords(text, FROM_GUEST) : undefined
    } catch {
      return undefined
    }
  }
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

function bootParts(definition: SlotDefinition) {
  const { siteId, siteDomain, env, handler, entry, limits } = definition
  return { limits, env, handler, entry, site: { siteId, siteDomain } }
}

/** Where code of one of the modules was written, as `line:column`. */
function written(modules: readonly ModuleSource[], path: unknown, place: Place): string {
  const module = modules.find((one) => one.path === path)
  const { line, column } = originalPlace(module ?? {}, place)
  return `${line}:${column}`
}
