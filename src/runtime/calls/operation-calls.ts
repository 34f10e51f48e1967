import { notFound } from '#base/app-error.ts'
import { SingleFlight } from '#base/single-flight.ts'
import type { CallAuthority } from '#platform/sandbox-host/sandbox.ts'
import type {
  PublishedOperation,
  PublishedSite,
  SiteIdentity,
} from '#runtime/published/published-site.ts'
import type { Published } from '#runtime/published/service.ts'
import type { RuntimeUsage } from '#runtime/usage/service.ts'
import type { Site } from '#sites/site.ts'

import { type Caller, admit } from './admission.ts'
import type { AdmittedCall, FlightError } from './admitted-call.ts'
import { aliasOf, answerKey } from './answer-key.ts'
import type { OperationRuns } from './operation-runs.ts'
import { boundBody } from './request-body.ts'
import type { AnswerKey, KeptAnswer, ResponseCache } from './response-cache.ts'

/** Of a body, for its answer to be kept: to hash a longer one takes longer than it is likely to come again. */
const MAX_KEPT_LENGTH = 1024 * 1024

export interface OperationCall {
  readonly site: Site
  readonly operation: string
  readonly requestId: string
  /** Null for a caller without a token. */
  readonly visitor: Caller | null
  /** Of the visitor's network. */
  readonly address?: string | undefined
  /** Whether the call came by `/data/public`. */
  readonly publicRoute: boolean
  /** Asked for when it has to wait: aborted when the visitor has left, and then it is not begun. */
  readonly visitorSignal?: () => AbortSignal
  /** As it came. */
  readonly body: string
}

/** A call that the service itself makes: for a job, or for a function that asks for another operation. */
export interface InternalCall {
  readonly site: SiteIdentity
  readonly operation: string
  readonly requestId: string
  /** Whose rights admit the call: those of a caller, null being a stranger, or the site's own, which open every operation. */
  readonly authority: Caller | null | 'system'
  /** JSON text of `{ payload }`. */
  readonly body: string
  /** Runs the operation, whatever answers are kept of it, and keeps this one for nobody. */
  readonly fresh?: true
  /** Calls of operations that wait for this one; none when left out. */
  readonly depth?: number
  /** Where the visitor is for whom it is made. */
  readonly address?: string | undefined
  /** Aborted when nobody waits for it any more: then it is not begun. */
  readonly signal?: AbortSignal
}

export interface OperationAnswer {
  /** The finished envelope: `{"ok":true,"data":…}`. */
  readonly body: string
  /** Undefined for an operation that keeps no answers. */
  readonly cache: 'HIT' | 'MISS' | undefined
  /** Only of a hit. */
  readonly ageSeconds?: number
}

/** A call on its way to an operation, which it may turn out not to be admitted to. */
interface RoutedCall {
  readonly site: SiteIdentity
  readonly operation: string
  readonly requestId: string
  readonly visitor: Caller | null
  readonly authority: CallAuthority
  readonly depth: number
  readonly fresh?: true
  readonly address?: string | undefined
  readonly signal?: AbortSignal
  readonly visitorSignal?: () => AbortSignal
  readonly body: string
  /** Throws unless the operation may be called. */
  admit(operation: PublishedOperation): void
}

type Flight =
  | { readonly kept: KeptAnswer; readonly found: boolean }
  | { readonly error: FlightError }

/** Serves visitors' calls from memory: the current revision, its kept answers, and the sandbox. */
export class OperationCalls {
  readonly #published: Published
  readonly #cache: ResponseCache
  readonly #runs: OperationRuns
  readonly #usage: RuntimeUsage
  readonly #now: () => number
  readonly #flights = new SingleFlight<string, Flight>()

  constructor(deps: {
    published: Published
    cache: ResponseCache
    runs: OperationRuns
    runtimeUsage: RuntimeUsage
    now(): number
  }) {
    this.#published = deps.published
    this.#cache = deps.cache
    this.#runs = deps.runs
    this.#usage = deps.runtimeUsage
    this.#now = () => deps.now()
  }

  /** Synchronous when the answer is at hand. */
  call(call: OperationCall): OperationAnswer | Promise<OperationAnswer> {
    const site = this.#published.current(call.site)
    return site instanceof Promise
      ? site.then((loaded) => this.#route(loaded, admitted(call)))
      : this.#route(site, admitted(call))
  }

  async invoke(call: InternalCall): Promise<OperationAnswer> {
    const { authority, depth = 0 } = call
    const visitor = authority === 'system' ? null : authority
    const site = await this.#published.current(call.site)
    return this.#route(site, {
      ...call,
      visitor,
      depth,
      admit(operation) {
        if (authority !== 'system') admit(operation, { publicRoute: visitor === null, visitor })
      },
    })
  }

  #route(site: PublishedSite, call: RoutedCall): OperationAnswer | Promise<OperationAnswer> {
    const operation = site.operations.get(call.operation)
    return operation ? this.#serve(site, operation, call) : this.#serveLater(call)
  }

  async #serveLater(call: RoutedCall): Promise<OperationAnswer> {
    const site = await this.#published.catchUp(call.site, call.operation)
    const operation = site?.operations.get(call.operation)
    if (!site || !operation) throw notFound('Operation', call.operation)
    return this.#serve(site, operation, call)
  }

  #serve(
    site: PublishedSite,
    operation: PublishedOperation,
    routed: RoutedCall,
  ): OperationAnswer | Promise<OperationAnswer> {
    routed.admit(operation)
    const { siteId } = site
    const { requestId, visitor, authority, depth, address, signal, visitorSignal, body } = routed
    const call = {
      site,
      siteId,
      operation,
      requestId,
      visitor,
      authority,
      depth,
      address,
      signal,
      visitorSignal,
      body: boundBody(body),
    }
    const kept = operation.cacheTtlSeconds > 0 && body.length <= MAX_KEPT_LENGTH
    return kept && !routed.fresh ? this.#cached(call) : this.#fresh(call)
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

  /** Those who ask for the same answer at once, and equally deep, wait for one run: so none waits for itself. */
  async #flown(asked: AdmittedCall, key: AnswerKey): Promise<OperationAnswer> {
    // Others may wait for the same run.
    const call = { ...asked, signal: undefined, visitorSignal: undefined }
    let led = false
    const flight = await this.#flights.run(
      `${call.depth} ${key.siteId} ${key.group} ${key.entry}`,
      () => {
        led = true
        return this.#fly(call, key)
      },
    )
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
    const outcome = await this.#runs.run(call)
    if ('error' in outcome) return outcome
    return {
      kept: this.#cache.store(key, outcome.body, call.operation.cacheTtlSeconds),
      found: false,
    }
  }

  async #fresh(call: AdmittedCall): Promise<OperationAnswer> {
    const outcome = await this.#runs.run(call)
    if ('error' in outcome) throw outcome.error(call.requestId)
    return { body: outcome.body, cache: undefined }
  }
}

const admitted = (call: OperationCall): RoutedCall => ({
  ...call,
  authority: call.visitor,
  depth: 0,
  admit: (operation) => admit(operation, call),
})
