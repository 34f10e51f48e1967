import type { Ids } from '#base/ids.ts'
import type { Peer } from '#platform/http-server/http-server.ts'

import type { RequestScope } from './request-scope.ts'
import { TrustedProxies } from './trusted-proxies.ts'

/** Reads a request's scope: an id of its own, and host and peer as the client, or a trusted proxy, names them. */
export class ScopeReader {
  readonly #proxies: TrustedProxies
  readonly #ids: Pick<Ids, 'uuid'>

  constructor(trustedProxies: readonly string[], ids: Pick<Ids, 'uuid'>) {
    this.#proxies = new TrustedProxies(trustedProxies)
    this.#ids = ids
  }

  read(request: Request, peer: Peer): RequestScope {
    // Not a count: whoever sees two of them would know how many requests of other sites came between.
    const requestId = this.#ids.uuid()
    const host = request.headers.get('host') ?? ''
    const direct = new DirectScope(requestId, host, pathOf(request.url), peer)
    if (this.#proxies.none || !this.#proxies.trusts(peer.address)) return direct
    const forwardedHost = request.headers.get('x-forwarded-host')?.split(',')[0]?.trim()
    return {
      requestId,
      host: forwardedHost || host,
      path: direct.path,
      startedAt: direct.startedAt,
      peerAddress: this.#proxies.clientOf(peer.address, request.headers.get('x-forwarded-for')),
    }
  }
}

/** Asks for the peer only when somebody wants it: most requests do not. */
class DirectScope implements RequestScope {
  readonly requestId: string
  readonly host: string
  readonly path: string
  readonly startedAt = performance.now()
  readonly #peer: Peer

  constructor(requestId: string, host: string, path: string, peer: Peer) {
    this.requestId = requestId
    this.host = host
    this.path = path
    this.#peer = peer
  }

  get peerAddress(): string {
    return this.#peer.address
  }
}

/** The path of an absolute URL, without parsing all of it. */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  if (start === -1) return '/'
  const end = url.indexOf('?', start)
  return end === -1 ? url.slice(start) : url.slice(start, end)
}
