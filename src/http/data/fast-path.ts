import type { AppContext } from '#context'
import { isJsonType } from '#http/bodies/content-types.ts'
import { isShort } from '#http/bodies/request-body.ts'
import type { Cors } from '#http/cors.ts'
import type { RequestScope } from '#http/request-scope.ts'
import type { Visitor } from '#identity/visitor.ts'
import type { Peer } from '#platform/http-server/http-server.ts'
import type { Site } from '#sites/site.ts'

import { type FastPathResponses, FastPathCall, type IncomingCall } from './fast-path-call.ts'

const SWEEP_MS = 1000
const FOR_VISITORS = '/data/'
const FOR_ANYONE = '/data/public/'

type FastPathContext = Pick<AppContext, 'sites' | 'visitorTokens' | 'operationCalls'>

/**
 * Visitors' calls whose site, token and operation are in memory and whose body is short: what nearly all are. They are answered
 * before the routes, in as few steps as there can be. Every other one, and what is to be refused before its body is
 * read, is left to the routes, which answer just the same.
 */
export class FastPath {
  readonly #context: FastPathContext
  readonly #cors: Pick<Cors, 'forVisitors'>
  readonly #responses: FastPathResponses
  readonly #open = new Set<FastPathCall>()
  #sweeping: NodeJS.Timeout | undefined

  constructor(
    context: FastPathContext,
    cors: Pick<Cors, 'forVisitors'>,
    responses: FastPathResponses,
  ) {
    this.#context = context
    this.#cors = cors
    this.#responses = responses
  }

  /** Undefined for what the routes are to answer: nothing has been done with it then. */
  answer(request: Request, scope: RequestScope, peer: Peer): Promise<Response> | undefined {
    const incoming = this.#incoming(request, scope)
    if (incoming === undefined) return undefined
    peer.takeOver?.()
    const origin = request.headers.get('origin')
    const cors = origin === null ? undefined : this.#cors.forVisitors(incoming.site, origin)
    const call = new FastPathCall({ request, scope, peer, cors }, incoming, this.#responses)
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref()
    return call.read(this.#open)
  }

  #incoming(request: Request, { host, path }: RequestScope): IncomingCall | undefined {
    if (!path.startsWith(FOR_VISITORS) || request.method !== 'POST') return undefined
    const { headers } = request
    if (!hasShortJson(headers)) return undefined
    const site = this.#context.sites.inMemory(host)
    if (site === undefined) return undefined
    const isOpen = path.startsWith(FOR_ANYONE)
    const operation = path.slice(isOpen ? FOR_ANYONE.length : FOR_VISITORS.length)
    const { operationCalls } = this.#context
    if (!operationCalls.isAtHand(site.siteId, operation)) return undefined
    const authority = isOpen ? null : this.#visitorOf(site, headers)
    return authority === undefined ? undefined : { site, operation, authority, operationCalls }
  }

  #visitorOf(site: Site, headers: Headers): Visitor | undefined {
    const authorization = headers.get('authorization')
    if (authorization === null) return undefined
    return this.#context.visitorTokens.recognized(site, authorization)
  }

  /** One timer for all: it rests when nothing is open. */
  #sweep(): void {
    const now = performance.now()
    for (const call of this.#open) call.look(now)
    if (this.#open.size > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }
}

function hasShortJson(headers: Headers): boolean {
  const length = headers.get('content-length')
  if (length === null || length === '0' || !isShort(length)) return false
  return isJsonType(headers.get('content-type')) && !headers.has('content-encoding')
}
