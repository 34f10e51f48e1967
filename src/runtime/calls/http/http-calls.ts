import type { Call, SiteIdentity } from '#platform/sandbox-host/call.ts'
import { type AdmittedCall, admit } from '#runtime/calls/admission.ts'
import type { OperationRunner } from '#runtime/calls/operation-runner.ts'
import type { PublishedOperation, PublishedSite } from '#runtime/published/published-site.ts'
import type { PublishedSites } from '#runtime/published/service.ts'

import type { OpenStreams } from './open-streams.ts'
import type { OperationResponse, OperationExchange } from './operation-exchange.ts'

/** An operation that answers HTTP itself, of the revision that is current. */
export type HttpOperation = Pick<AdmittedCall, 'site' | 'operation'>

/** Serves the operations that answer HTTP themselves. */
export class HttpCalls {
  readonly #deps

  constructor(deps: {
    readonly published: PublishedSites
    readonly runner: OperationRunner
    readonly openStreams: OpenStreams
  }) {
    this.#deps = deps
  }

  /** Undefined where no operation of that name answers HTTP. Synchronous for what is in memory. */
  find(
    site: SiteIdentity,
    operation: string,
  ): HttpOperation | undefined | Promise<HttpOperation | undefined> {
    const current = this.#deps.published.current(site)
    return current instanceof Promise
      ? current.then((loaded) => this.#in(loaded, site, operation))
      : this.#in(current, site, operation)
  }

  /** Gives the answer once it has begun; throws where the call is not admitted or answers nothing. */
  async answer(
    call: Call,
    found: HttpOperation,
    exchange: OperationExchange,
  ): Promise<OperationResponse> {
    admit(call, found.operation)
    const { siteId, program } = found.site
    const { openStreams } = program.limits
    const source = { siteId, address: call.address ?? '', openStreams }
    exchange.admit(() => this.#deps.openStreams.open(source))
    this.#deps.runner.exchange({ ...found, call }, exchange)
    return exchange.answer
  }

  #in(current: PublishedSite, site: SiteIdentity, name: string) {
    const operation = current.operations.get(name)
    if (!operation) return this.#newer(site, name)
    return httpOperation(current, operation)
  }

  async #newer(site: SiteIdentity, name: string): Promise<HttpOperation | undefined> {
    const newer = await this.#deps.published.loadNewer(site, name)
    const operation = newer?.operations.get(name)
    return newer && operation ? httpOperation(newer, operation) : undefined
  }
}

const httpOperation = (
  site: PublishedSite,
  operation: PublishedOperation,
): HttpOperation | undefined => (operation.http ? { site, operation } : undefined)
