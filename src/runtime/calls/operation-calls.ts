import { notFound } from '#base/app-error.ts'
import { SingleFlight } from '#base/single-flight.ts'
import type { CacheKey } from '#platform/redis/shared-cache.ts'
import type { Call, CallAuthority, SiteIdentity } from '#platform/sandbox-host/call.ts'
import type { PublishedOperation, PublishedSite } from '#runtime/published/published-site.ts'
import type { PublishedSites } from '#runtime/published/service.ts'
import type { RuntimeUsage } from '#runtime/usage/runtime-usage.ts'

import { type AdmittedCall, admit, mayCall } from './admission.ts'
import type { CallActivity } from './call-activity.ts'
import type { ErrorForRequest, OperationRunner } from './operation-runner.ts'
import { type Reply, forward } from './reply.ts'
import { checkBody } from './request-body.ts'
import {
  type CachedResponse,
  type ResponseCache,
  cacheKeyOf,
  requestTextOf,
} from './response-cache.ts'

/** Answers to longer bodies are not cached: hashing such a body costs more than the chance that it comes again is worth. */
const MAX_CACHED_LENGTH = 1024 * 1024

export interface OperationAnswer {
  /** The finished envelope: `{"ok":true,"data":…}`. */
  readonly body: string
  /** Undefined for an operation that keeps no answers. */
  readonly cache: 'HIT' | 'MISS' | undefined
  /** Only of a hit. */
  readonly ageSeconds?: number
}

type Flight =
  | { readonly cached: CachedResponse }
  | { readonly body: string }
  | { readonly error: ErrorForRequest }

/** Serves visitors' calls from memory: the current revision, its kept answers, and the sandbox. */
export class OperationCalls {
  readonly #deps
  readonly #flights = new SingleFlight<string, Flight>()
  /** Calls whose functions called operations. */
  readonly #callers = new WeakSet<Call>()

  constructor(deps: {
    readonly published: PublishedSites
    readonly cache: ResponseCache
    readonly runner: OperationRunner
    readonly runtimeUsage: RuntimeUsage
    readonly callActivity: CallActivity
    now(): number
  }) {
    this.#deps = deps
  }

  /** Synchronous when the answer is cached. */
  call(call: Call): OperationAnswer | Promise<OperationAnswer> {
    if (call.caller) this.#callers.add(call.caller)
    const site = this.#deps.published.current(call.site)
    return site instanceof Promise
      ? site.then((loaded) => this.#route(loaded, call))
      : this.#route(site, call)
  }

  /** What the current revision lets the caller call, by name. In memory, once the site was asked for. */
  async callable(
    site: SiteIdentity,
    authority: CallAuthority,
  ): Promise<{ readonly revision: number; operations(): readonly PublishedOperation[] }> {
    const { revision, operations } = await this.#deps.published.current(site)
    return {
      revision,
      operations: () => [...operations.values()].filter((each) => mayCall(authority, each)),
    }
  }

  /** Whether visitors' calls of it may be answered by `begin`: nothing has to be looked for, and it answers in JSON. */
  isAtHand(siteId: string, operation: string): boolean {
    return this.#deps.published.peek(siteId)?.operations.get(operation)?.http === false
  }

  /** A visitor's call, for callers that need no promise. */
  begin(call: Call, reply: Reply<OperationAnswer>): void {
    try {
      const site = this.#deps.published.current(call.site)
      const operation = site instanceof Promise ? undefined : site.operations.get(call.operation)
      if (site instanceof Promise || !operation) forward(this.call(call), reply)
      else this.#begin({ call, site, operation }, reply)
    } catch (error) {
      reply.failed(error)
    }
  }

  #begin(admitted: AdmittedCall, reply: Reply<OperationAnswer>): void {
    check(admitted)
    if (keepsAnswers(admitted)) forward(this.#cached(admitted), reply)
    else this.#run(admitted, reply)
  }

  #route(site: PublishedSite, call: Call): OperationAnswer | Promise<OperationAnswer> {
    const operation = site.operations.get(call.operation)
    return operation ? this.#serve({ call, site, operation }) : this.#serveNewer(call)
  }

  async #serveNewer(call: Call): Promise<OperationAnswer> {
    const site = await this.#deps.published.loadNewer(call.site, call.operation)
    const operation = site?.operations.get(call.operation)
    if (!site || !operation) throw notFound('Operation', call.operation)
    return this.#serve({ call, site, operation })
  }

  #serve(admitted: AdmittedCall): OperationAnswer | Promise<OperationAnswer> {
    check(admitted)
    return keepsAnswers(admitted) ? this.#cached(admitted) : this.#fresh(admitted)
  }

  #cached(admitted: AdmittedCall): OperationAnswer | Promise<OperationAnswer> {
    const { call, site, operation } = admitted
    const request = requestTextOf(call)
    const repeated = this.#deps.cache.getRepeated(site.siteId, operation.cacheGroup, request)
    if (repeated) return this.#hit(admitted, repeated)
    const key = cacheKeyOf(call, operation.cacheGroup)
    const cached = this.#deps.cache.getLocal(key)
    this.#deps.cache.addRequest(key, request)
    return cached ? this.#hit(admitted, cached) : this.#shared(admitted, key)
  }

  #hit({ site, operation }: AdmittedCall, cached: CachedResponse): OperationAnswer {
    this.#deps.runtimeUsage.record(site.siteId, operation.name, 'hit')
    this.#deps.callActivity.shared(operation, 'cached')
    const ageSeconds = Math.max(0, Math.floor((this.#deps.now() - cached.storedAt) / 1000))
    return { body: cached.body, cache: 'HIT', ageSeconds }
  }

  /** Those who ask for the same answer at once, and equally deep, wait for one run: so none waits for itself. */
  async #shared(admitted: AdmittedCall, key: CacheKey): Promise<OperationAnswer> {
    const { call, site, operation } = admitted
    let led = false
    const flight = await this.#flights.run(
      `${call.depth} ${key.siteId} ${key.group} ${key.entry}`,
      () => {
        led = true
        // Others may come to wait for the same run: it does not end with its first visitor.
        const unabortable = { ...call, signal: undefined, visitorSignal: undefined }
        return this.#load({ ...admitted, call: unabortable }, key)
      },
    )
    if ('error' in flight) {
      const error = flight.error(call.requestId)
      if (!led) {
        this.#deps.runtimeUsage.record(site.siteId, operation.name, 'error')
        this.#deps.callActivity.shared(operation, error)
      }
      throw error
    }
    if ('cached' in flight) return this.#hit(admitted, flight.cached)
    if (!led) {
      this.#deps.runtimeUsage.record(site.siteId, operation.name, 'call')
      this.#deps.callActivity.shared(operation, 'answered')
    }
    return { body: flight.body, cache: 'MISS' }
  }

  async #load(admitted: AdmittedCall, key: CacheKey): Promise<Flight> {
    const shared = await this.#deps.cache.getShared(key)
    if (shared) return { cached: shared }
    const outcome = await this.#deps.runner.run(admitted)
    if ('body' in outcome && this.#isKeyed(admitted)) {
      this.#deps.cache.store(key, outcome.body, admitted.operation.cacheTtlSeconds)
    }
    return outcome
  }

  /** Whether all that an answer depends on is in its key. */
  #isKeyed({ call, site, operation }: AdmittedCall): boolean {
    if (!this.#callers.has(call)) return true
    // The operation that it called may have been of a newer revision.
    const current = this.#deps.published.peek(site.siteId)?.operations.get(operation.name)
    return operation.callsOperations && current?.cacheGroup === operation.cacheGroup
  }

  #fresh(admitted: AdmittedCall): Promise<OperationAnswer> {
    return new Promise((answered, failed) => this.#run(admitted, { answered, failed }))
  }

  #run(admitted: AdmittedCall, reply: Reply<OperationAnswer>): void {
    this.#deps.runner.begin(admitted, {
      answered(outcome) {
        if ('error' in outcome) reply.failed(outcome.error(admitted.call.requestId))
        else reply.answered({ body: outcome.body, cache: undefined })
      },
      failed: (error) => reply.failed(error),
    })
  }
}

/** Throws the reason to refuse the call. */
function check({ call, operation }: AdmittedCall): void {
  admit(call, operation)
  checkBody(call.body)
}

const keepsAnswers = ({ call, operation }: AdmittedCall): boolean =>
  operation.cacheTtlSeconds > 0 && call.body.length <= MAX_CACHED_LENGTH && !call.fresh
