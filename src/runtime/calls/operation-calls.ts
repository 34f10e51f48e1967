import { type AppError, notFound } from '#base/app-error.ts'
import { SingleFlight } from '#base/single-flight.ts'
import type { CallOutcome, Sandbox } from '#platform/sandbox-host/sandbox.ts'
import type { RuntimeLogs } from '#runtime/logs/service.ts'
import type { PublishedOperation, PublishedSite } from '#runtime/published/published-site.ts'
import type { Published } from '#runtime/published/service.ts'
import type { RuntimeUsage } from '#runtime/usage/service.ts'
import type { Site } from '#sites/site.ts'

import { type Caller, admit } from './admission.ts'
import { aliasOf, answerKey } from './answer-key.ts'
import { failureOf, invalidFunction, logWords } from './failures.ts'
import { boundBody, payloadOf } from './request-body.ts'
import type { AnswerKey, KeptAnswer, ResponseCache } from './response-cache.ts'

export interface OperationCall {
  readonly site: Site
  readonly operation: string
  readonly requestId: string
  /** Null for a caller without a token. */
  readonly visitor: Caller | null
  /** Whether the call came by `/data/public`. */
  readonly publicRoute: boolean
  /** As it came. */
  readonly body: string
}

export interface OperationAnswer {
  /** The finished envelope: `{"ok":true,"data":…}`. */
  readonly body: string
  /** Undefined for an operation that keeps no answers. */
  readonly cache: 'HIT' | 'MISS' | undefined
  /** Only of a hit. */
  readonly ageSeconds?: number
}

/** A call that was admitted to an operation of the current revision. */
interface AdmittedCall {
  readonly site: PublishedSite
  readonly siteId: string
  readonly operation: PublishedOperation
  readonly requestId: string
  readonly visitor: Caller | null
  readonly body: string
}

type Flight =
  | { readonly kept: KeptAnswer; readonly found: boolean }
  | { readonly error: FlightError }
type FlightError = (requestId: string) => AppError

/** Serves visitors' calls from memory: the current revision, its kept answers, and the sandbox. */
export class OperationCalls {
  readonly #published: Published
  readonly #cache: ResponseCache
  readonly #sandbox: Pick<Sandbox, 'call'>
  readonly #logs: RuntimeLogs
  readonly #usage: RuntimeUsage
  readonly #now: () => number
  readonly #flights = new SingleFlight<string, Flight>()

  constructor(deps: {
    published: Published
    cache: ResponseCache
    sandbox: Pick<Sandbox, 'call'>
    runtimeLogs: RuntimeLogs
    runtimeUsage: RuntimeUsage
    now(): number
  }) {
    this.#published = deps.published
    this.#cache = deps.cache
    this.#sandbox = deps.sandbox
    this.#logs = deps.runtimeLogs
    this.#usage = deps.runtimeUsage
    this.#now = () => deps.now()
  }

  /** Synchronous when the answer is at hand. */
  call(call: OperationCall): OperationAnswer | Promise<OperationAnswer> {
    const site = this.#published.current(call.site)
    return site instanceof Promise
      ? site.then((loaded) => this.#route(loaded, call))
      : this.#route(site, call)
  }

  #route(site: PublishedSite, call: OperationCall): OperationAnswer | Promise<OperationAnswer> {
    const operation = site.operations.get(call.operation)
    return operation ? this.#serve(site, operation, call) : this.#serveLater(call)
  }

  async #serveLater(call: OperationCall): Promise<OperationAnswer> {
    const site = await this.#published.catchUp(call.site, call.operation)
    const operation = site?.operations.get(call.operation)
    if (!site || !operation) throw notFound('Operation', call.operation)
    return this.#serve(site, operation, call)
  }

  #serve(
    site: PublishedSite,
    operation: PublishedOperation,
    { requestId, visitor, publicRoute, body }: OperationCall,
  ): OperationAnswer | Promise<OperationAnswer> {
    admit(operation, { publicRoute, visitor })
    const { siteId } = site
    const call = { site, siteId, operation, requestId, visitor, body: boundBody(body) }
    return operation.cacheTtlSeconds > 0 ? this.#cached(call) : this.#fresh(call)
  }

  #cached(call: AdmittedCall): OperationAnswer | Promise<OperationAnswer> {
    const alias = aliasOf(call)
    const repeated = this.#cache.repeated(call.siteId, call.operation.cacheGroup, alias)
    if (repeated) return this.#hit(call, repeated)
    const key = answerKey(call)
    const kept = this.#cache.local(key)
    this.#cache.remember(key, alias)
    return kept ? this.#hit(call, kept) : this.#flown(call, key)
  }

  #hit(call: AdmittedCall, kept: KeptAnswer): OperationAnswer {
    this.#usage.record(call.siteId, call.operation.name, 'hit')
    const ageSeconds = Math.max(0, Math.floor((this.#now() - kept.storedAt) / 1000))
    return { body: kept.body, cache: 'HIT', ageSeconds }
  }

  /** Those who ask for the same answer at once wait for one run. */
  async #flown(call: AdmittedCall, key: AnswerKey): Promise<OperationAnswer> {
    let led = false
    const flight = await this.#flights.run(`${key.siteId} ${key.group} ${key.entry}`, () => {
      led = true
      return this.#fly(call, key)
    })
    if ('error' in flight) {
      if (!led) this.#usage.record(call.siteId, call.operation.name, 'error')
      throw flight.error(call.requestId)
    }
    if (flight.found) return this.#hit(call, flight.kept)
    if (!led) this.#usage.record(call.siteId, call.operation.name, 'call')
    return { body: flight.kept.body, cache: 'MISS' }
  }

  async #fly(call: AdmittedCall, key: AnswerKey): Promise<Flight> {
    const shared = await this.#cache.fromShared(key)
    if (shared) return { kept: shared, found: true }
    const outcome = await this.#run(call)
    if ('error' in outcome) return outcome
    return {
      kept: this.#cache.store(key, outcome.body, call.operation.cacheTtlSeconds),
      found: false,
    }
  }

  async #fresh(call: AdmittedCall): Promise<OperationAnswer> {
    const outcome = await this.#run(call)
    if ('error' in outcome) throw outcome.error(call.requestId)
    return { body: outcome.body, cache: undefined }
  }

  /** Runs the operation once, counts it and logs what went wrong. */
  async #run(
    call: AdmittedCall,
  ): Promise<{ readonly body: string } | { readonly error: FlightError }> {
    const { target, name } = call.operation
    if (target.kind === 'preset') return this.#echo(call)
    if (target.kind === 'fault') {
      this.#usage.record(call.siteId, name, 'error')
      this.#logs.failure({
        ...about(call),
        level: 'error',
        code: 'InvalidFunction',
        message: `Function "${target.functionName}" does not load: ${target.message}`,
      })
      return { error: () => invalidFunction(name) }
    }
    const startedAt = performance.now()
    const outcome = await this.#sandbox.call({
      program: call.site.program,
      functionId: target.functionId,
      operation: name,
      requestId: call.requestId,
      auth: call.visitor?.authText ?? 'null',
      body: call.body,
    })
    const wallUs = Math.round((performance.now() - startedAt) * 1000)
    this.#usage.record(call.siteId, name, outcome.ok ? 'call' : 'error', {
      cpuUs: outcome.cpuUs,
      wallUs,
    })
    return outcome.ok
      ? { body: `{"ok":true,"data":${outcome.result}}` }
      : { error: this.#failed(call, outcome.failure) }
  }

  #echo(call: AdmittedCall): { readonly body: string } {
    const data = JSON.stringify(payloadOf(call.body) ?? null)
    this.#usage.record(call.siteId, call.operation.name, 'call')
    return { body: `{"ok":true,"data":${data}}` }
  }

  #failed(
    call: AdmittedCall,
    failure: Extract<CallOutcome, { ok: false }>['failure'],
  ): FlightError {
    // Says which: not JSON, or JSON but no object.
    if (failure.kind === 'invalidBody') payloadOf(call.body)
    const error = failureOf(failure, { operation: call.operation.name, requestId: call.requestId })
    if (failure.kind !== 'invalidBody') {
      this.#logs.failure({
        ...about(call),
        level: LEVELS[error.code] ?? 'error',
        code: error.thrown?.code ?? error.code,
        message: logWords(failure),
      })
    }
    return (requestId) => failureOf(failure, { operation: call.operation.name, requestId })
  }
}

/** Failures that are no fault of the function. */
const LEVELS: Partial<Record<AppError['code'], 'info' | 'warn'>> = {
  OperationRejected: 'info',
  OperationOverloaded: 'warn',
  OperationInterrupted: 'warn',
}

const about = ({ siteId, operation, requestId }: AdmittedCall) => ({
  siteId,
  operation: operation.name,
  requestId,
})
