import type { Ids } from '#base/ids.ts'
import type { Peer } from '#platform/http-server/http-server.ts'

import { RequestBodyBudgets } from './bodies/request-body-budgets.ts'
import { forwardedOf } from './forwarded.ts'
import { nameTraceOf } from './traced-requests.ts'
import { TrustedProxies } from './trusted-proxies.ts'
import { pathOf } from './url-path.ts'

/** What the transport knows of a request before any route has seen it. */
export class RequestScope {
  readonly requestId: string
  /** The host that was asked for: `Host`, or `X-Forwarded-Host` from a trusted proxy. May carry a port. */
  readonly host: string
  /** Without query; as it was sent, escapes and all. */
  readonly path: string
  /** On the clock of `performance.now()`. */
  readonly startedAt = performance.now()
  /** Whether its end is no news: one of very many that are refused for the same reason. */
  isQuiet = false
  /** Of the response, whatever it is: which windows reach the page. */
  openerPolicy: string | undefined
  /** What the bodies hold that are being received, this one among them. */
  readonly bodyBudgets: RequestBodyBudgets
  readonly #peer: Peer

  constructor(
    { requestId, host, path }: Pick<RequestScope, 'requestId' | 'host' | 'path'>,
    peer: Peer,
    bodyBudgets: RequestBodyBudgets,
  ) {
    this.requestId = requestId
    this.host = host
    this.path = path
    this.bodyBudgets = bodyBudgets
    this.#peer = peer
  }

  /** The peer, or what a trusted proxy says the peer is. Computed on first use: most requests do not need it. */
  get peerAddress(): string {
    return this.#peer.address
  }
}

/** On the request itself: a WeakMap would cost each garbage collection what it holds. */
const SCOPE = Symbol('scope')

interface Scoped {
  [SCOPE]?: RequestScope
}

export function scopeOf(request: Request & Scoped): RequestScope {
  const scope = request[SCOPE]
  if (!scope) throw new Error('The request did not come through the server')
  return scope
}

/** All holders of the request have its scope from then on. */
export function attachScope(request: Request & Scoped, scope: RequestScope): void {
  request[SCOPE] = scope
}

/** Gives each request its scope: an id of its own, and host and peer as the client, or a trusted proxy, names them. */
export class RequestScopes {
  readonly #proxies: TrustedProxies
  readonly #ids: Pick<Ids, 'uuid'>
  readonly #bodyBudgets = new RequestBodyBudgets()

  constructor(trustedProxies: readonly string[], ids: Pick<Ids, 'uuid'>) {
    this.#proxies = new TrustedProxies(trustedProxies)
    this.#ids = ids
  }

  open(request: Request, peer: Peer): RequestScope {
    const scope = this.of(request, peer)
    attachScope(request, scope)
    return scope
  }

  /** The scope of a request that has none yet, for a server that hands it on beside the request. */
  of(request: Request, peer: Peer): RequestScope {
    const { headers, url } = request
    // Not a count: two of them would reveal how many requests of other sites came between.
    const requestId = this.#ids.uuid()
    nameTraceOf(request, requestId)
    const direct = { requestId, host: headers.get('host') ?? '', path: pathOf(url) }
    if (this.#proxies.none || !this.#proxies.trusts(peer.address)) {
      return new RequestScope(direct, peer, this.#bodyBudgets)
    }
    const { hops, host = direct.host } = forwardedOf(headers)
    const address = this.#proxies.clientOf(peer.address, hops)
    return new RequestScope({ ...direct, host }, { address }, this.#bodyBudgets)
  }
}
