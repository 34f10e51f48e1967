/** What the transport knows of a request before any route has seen it. */
export interface RequestScope {
  readonly requestId: string
  /** The peer, or what a trusted proxy says the peer is. */
  readonly peerAddress: string
  /** The host that was asked for: `Host`, or `X-Forwarded-Host` from a trusted proxy. May carry a port. */
  readonly host: string
  /** Without query; as it was sent, escapes and all. */
  readonly path: string
  /** On the clock of `performance.now()`. */
  readonly startedAt: number
}

/** On the request itself: a WeakMap would cost each garbage collection what it holds. */
const SCOPE = Symbol('scope')

interface Scoped {
  [SCOPE]?: RequestScope
}

export function openScope(request: Request & Scoped, scope: RequestScope): void {
  request[SCOPE] = scope
}

export function scopeOf(request: Request & Scoped): RequestScope {
  const scope = request[SCOPE]
  if (!scope) throw new Error('The request did not come through the server')
  return scope
}
