import { createHash } from 'node:crypto'

import { LRUCache } from 'lru-cache'

import { AppError } from '#base/app-error.ts'
import { didYouMean } from '#base/did-you-mean.ts'
import type {
  CodeFault,
  FunctionSource,
  LoadJob,
  Module,
  PreparedFunction,
  Sandbox,
  SandboxFailure,
} from '#platform/sandbox-host/sandbox.ts'
import type { OpenEnvVar } from '#runtime/env-vars/model.ts'
import { secretMatcher } from '#runtime/env-vars/secret-matcher.ts'
import { type RuntimeSettings, siteLimits } from '#runtime/revisions/limits.ts'
import type { SourceMaps } from '#runtime/source-maps/source-maps.ts'

import { type FunctionFault, MAX_FAULTS } from './code-faults.ts'
import { codeFrame } from './code-frame.ts'
import { type FunctionCode, readFunctionCode, functionSourceOf } from './function-code.ts'
import { moduleHash } from './module-hash.ts'
import type { PreparedFunctionCache } from './prepared-functions.ts'

const CHECKS_AT_ONCE = 8
/** Loads that are remembered, of all sites. */
const MAX_KNOWN = 20_000
/** Hosts that a check may lose through no fault of its code. */
const MAX_INTERRUPTIONS = 5

/** A function as it would be called. */
export interface FunctionToCheck {
  readonly name: string
  /** The field of a request or definition that has it; undefined where it is the site's already. */
  readonly field: string | undefined
  readonly config: FunctionCode & {
    readonly handler: string
    readonly timeoutSeconds: number
    readonly memoryMb: number
    readonly environment: readonly string[]
  }
}

/** A site with what its operator set. */
export interface SettledSite {
  readonly domain: string
  readonly settings: RuntimeSettings
}

/** What the functions would find around them. */
export interface FunctionWorld {
  /** The deployment's code, by path. */
  readonly files: ReadonlyMap<string, string>
  readonly env: ReadonlyMap<string, OpenEnvVar>
  readonly site: SettledSite
}

/**
 * Finds out before anything is changed whether functions load: each is compiled, linked and evaluated once, as its calls
 * would do it, and its handler is looked up. What loaded before, unchanged and in the same environment, is not loaded again.
 */
export class FunctionChecks {
  readonly #deps
  readonly #known = new LRUCache<string, true>({ maxSize: MAX_KNOWN, sizeCalculation: () => 1 })

  constructor(deps: {
    readonly sandbox: Pick<Sandbox, 'load'>
    readonly prepared: PreparedFunctionCache
    /** Says of places in bundles where the code was written. */
    readonly sourceMaps: Pick<SourceMaps, 'original'>
  }) {
    this.#deps = deps
  }

  /** The faults of those that do not load; when there are very many, not of all. Asks the sandbox: never in a transaction. */
  async faultsOf(
    siteId: string,
    functions: readonly FunctionToCheck[],
    world: FunctionWorld,
  ): Promise<FunctionFault[]> {
    if (functions.length === 0) return []
    const waiting = [...functions.entries()]
    const faults = new Map<number, FunctionFault>()
    const one = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [at, checked] = next
        const fault = await this.#faultOf(siteId, checked, world)
        if (fault) faults.set(at, faultOf(checked, await this.#told(siteId, fault, world)))
        if (faults.size >= MAX_FAULTS) return
      }
    }
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, one))
    return [...faults].toSorted(([a], [b]) => a - b).map(([, fault]) => fault)
  }

  /** The modules of one that loads, else what is wrong with it. With `isKnown` for its modules it is only read. */
  async load(
    siteId: string,
    checked: FunctionToCheck,
    world: FunctionWorld,
    isKnown: (modules: readonly Module[]) => boolean,
  ): Promise<PreparedFunction> {
    const source = functionSourceOf(checked.config, world.files)
    const read = await readFunctionCode(source, (code) => this.#deps.prepared.prepare(siteId, code))
    if (!read.ok || isKnown(read.modules)) return read
    const fault = await this.#faultOf(siteId, checked, world)
    return fault ? { ok: false, fault: (await this.#told(siteId, fault, world)).fault } : read
  }

  /** Without secrets, and at the place where the code was written. */
  async #told(siteId: string, fault: CodeFault, world: FunctionWorld): Promise<ToldFault> {
    const safe = redacted(fault, world)
    const { path, line, column = 1 } = safe
    if (path === undefined || line === undefined) return { fault: safe, text: undefined }
    const original = await this.#deps.sourceMaps.original(siteId, { path, line, column })
    if (!original) return { fault: safe, text: world.files.get(path) }
    const { content: text, ...place } = original
    return { fault: { ...safe, ...place }, text }
  }

  async #faultOf(
    siteId: string,
    { name, field, config }: FunctionToCheck,
    { files, env, site }: FunctionWorld,
  ): Promise<CodeFault | undefined> {
    const source = functionSourceOf(config, files)
    const read = await readFunctionCode(source, (code) => this.#deps.prepared.prepare(siteId, code))
    if (!read.ok) return withAdvice(read.fault, { source, field })
    const job: LoadJob = {
      siteId,
      siteDomain: site.domain,
      limits: siteLimits(site.settings.limits),
      name,
      entry: source.entry,
      handler: config.handler,
      modules: read.modules,
      env: environmentOf(config.environment, env),
      timeoutMs: Math.round(config.timeoutSeconds * 1000),
      memoryMb: config.memoryMb,
    }
    const key = keyOf(job)
    if (this.#known.has(key)) return undefined
    const failure = await this.#load(job)
    if (failure) return failureFault(failure, job)
    this.#known.set(key, true)
    return undefined
  }

  async #load(job: LoadJob): Promise<SandboxFailure | undefined> {
    for (let tries = 0; tries < MAX_INTERRUPTIONS; tries += 1) {
      const outcome = await this.#deps.sandbox.load(job)
      if (outcome.ok) return undefined
      if (outcome.failure.kind !== 'interrupted') return outcome.failure
    }
    throw unavailable(job.name)
  }
}

interface ToldFault {
  readonly fault: CodeFault
  /** The text of the file that it names, if it is known. */
  readonly text: string | undefined
}

/** What a function sees of the variables that it names. */
const environmentOf = (
  names: readonly string[],
  env: FunctionWorld['env'],
): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const known = env.get(name)
      return known ? [[name, known.value]] : []
    }),
  )

/** Everything that decides whether it loads. */
function keyOf({ siteId, entry, handler, modules, env, limits, ...job }: LoadJob): string {
  const facts = [siteId, entry, handler, job.timeoutMs, job.memoryMb, limits.cpuMs]
  const parts = [facts, modules.map(moduleHash), Object.entries(env)]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

/** What can be done about an entry that is not there. */
function withAdvice(
  fault: CodeFault,
  {
    source: { entry, files },
    field,
  }: { readonly source: FunctionSource; readonly field: string | undefined },
): CodeFault {
  if (files.has(entry)) return fault
  const meant = didYouMean(entry, [...files.keys()])
  const named = meant === undefined ? 'deploy it, or name another' : `did you mean "${meant}"?`
  const advice = field === undefined ? 'keep the file, or delete the function first' : named
  return { ...fault, message: `${fault.message}: ${advice}` }
}

/** What a failed load says of the code. */
function failureFault(failure: SandboxFailure, { name, entry: path }: LoadJob): CodeFault {
  if (failure.kind === 'invalidCode') return { path, ...failure.fault }
  if (failure.kind !== 'limit') throw unavailable(name)
  const { what, limit, used } = failure
  const words = LIMIT_WORDS[what]
  if (words === undefined) throw unavailable(name)
  const place = 'at' in failure ? failure.at : undefined
  const message = `${words} while it is loaded: limit ${limit}, used ${used} (${what})`
  return { path, ...place, message }
}

const LIMIT_WORDS: Partial<Record<string, string>> = {
  timeoutMs: 'It takes longer than it may',
  cpuMs: 'It computes longer at a stretch than it may',
  memoryMb: 'It uses more memory than it may',
}

/** An error that the code threw may hold what it was given. */
function redacted(fault: CodeFault, { env }: FunctionWorld): CodeFault {
  const secrets = [...env].flatMap(([name, { value, secret }]) => (secret ? [{ name, value }] : []))
  return { ...fault, message: secretMatcher(secrets)?.redact(fault.message) ?? fault.message }
}

function faultOf(
  { name, field, config: { code, artifact } }: FunctionToCheck,
  { fault, text: fileText }: ToldFault,
): FunctionFault {
  const inline = code !== undefined
  const path = inline ? null : (fault.path ?? artifact ?? null)
  const text = inline ? code : fileText
  return {
    name,
    field: field && `${field}.${inline ? 'code' : 'artifact'}`,
    file: artifact,
    report: reportOf(name, path, { fault, text }),
  }
}

const reportOf = (
  name: string,
  file: string | null,
  { fault, text }: { readonly fault: CodeFault; readonly text: string | undefined },
): FunctionFault['report'] => ({
  function: name,
  file,
  line: fault.line ?? null,
  column: fault.column ?? null,
  message: fault.message.toWellFormed(),
  frame: frameOf(text, fault) ?? null,
})

function frameOf(text: string | undefined, { line, column = 1 }: CodeFault): string | undefined {
  return text === undefined || line === undefined ? undefined : codeFrame(text, { line, column })
}

const unavailable = (name: string): AppError =>
  new AppError(
    'ServiceUnavailable',
    `Function "${name}" could not be loaded to be checked through no fault of its own: try again`,
    { retryAfterSeconds: 1 },
  )
