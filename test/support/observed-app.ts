import { AsyncLocalStorage } from 'node:async_hooks'

import type { HttpApp } from '#http/app.ts'
import { declaresError } from '#http/openapi/route-errors.ts'
import type { RouteDeclaration } from '#http/route-declaration.ts'
import { FREQUENT_EVENTS } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { Peer } from '#platform/http-server/http-server.ts'

import { hasDeclaredResponse, responseDifference } from './declared-responses.ts'
import { type RouteRow, isChanging, routeRows } from './route-table.ts'

/** A request, and what it wrote to the audit trail; a response that is streamed may go on to write. */
interface ObservedCall extends Pick<Request, 'method' | 'url'> {
  status: number
  readonly events: string[]
}

/**
 * The service, and an observer that compares what its routes declare with what they do: the entries that requests write to the
 * audit trail, and the responses and error codes of `/admin` and `/portal`. A response that differs reaches its caller as 500.
 */
export class ObservedApp implements HttpApp {
  /** Without the observer. */
  readonly observed: HttpApp
  readonly routes: HttpApp['routes']
  /** Those that wrote something. */
  readonly #calls = new Set<ObservedCall>()
  readonly #differences = new Set<string>()
  readonly #current = new AsyncLocalStorage<ObservedCall>()
  /** By the names of their rows. */
  readonly #declarations: ReadonlyMap<string, readonly RouteDeclaration[]>
  readonly #patterns: readonly { readonly row: RouteRow; readonly pattern: RegExp }[]

  constructor(
    app: HttpApp,
    { securityEvents }: { readonly securityEvents: Pick<SecurityEvents, 'record'> },
  ) {
    this.observed = app
    this.routes = app.routes
    this.#declarations = Map.groupBy(
      app.routes,
      ({ method, path }) => `${method} ${path.replace(/(?<=.)\/$/, '')}`,
    )
    this.#patterns = routeRows(app.routes)
      .map((row) => ({ row, pattern: patternOf(row.path) }))
      .toSorted((a, b) => rank(a.row.path) - rank(b.row.path))
    const record = securityEvents.record.bind(securityEvents)
    securityEvents.record = async (tx, event) => {
      const call = this.#current.getStore()
      await record(tx, event)
      tx.onCommit(() => {
        if (call) this.#calls.add(call)
        call?.events.push(event.event)
      })
    }
  }

  async fetch(request: Request, peer: Peer): Promise<Response> {
    const { method, url } = request
    const call: ObservedCall = { method, url, status: 200, events: [] }
    const response = await this.#current.run(call, () => this.observed.fetch(request, peer))
    call.status = response.status
    return (await this.#differing(request, response)) ?? response
  }

  /** `{method} {path} {event}` of what requests wrote that were not refused. */
  get recorded(): ReadonlySet<string> {
    const entries = [...this.#calls].flatMap(({ status, events, ...request }) => {
      const name = this.#routeOf(request)?.name
      return status < 400 ? events.map((event) => `${name} ${event}`) : []
    })
    return new Set(entries)
  }

  /** Throws when a request wrote, or was answered with, what its route does not declare. */
  check(): void {
    const undeclared = new Set(this.#differences)
    for (const { status, events, ...request } of this.#calls) {
      const route = this.#routeOf(request)
      for (const event of events) {
        if (route && !isDeclared(route, event, status))
          undeclared.add(`${route.name} ${event} (${status})`)
      }
    }
    if (undeclared.size > 0) throw new Error(`Routes do not declare: ${[...undeclared].join(', ')}`)
  }

  /** What the caller gets instead of a response that its route does not declare. */
  async #differing(request: Request, response: Response): Promise<Response | undefined> {
    const { pathname } = new URL(request.url)
    if (!hasDeclaredResponse(pathname)) return undefined
    const route = this.#routeOf(request)
    if (route === undefined || !hasDeclaredResponse(route.path)) return undefined
    const difference =
      response.status < 400
        ? await responseDifference(route, response)
        : await undeclaredCode(this.#declarations.get(route.name) ?? [], response)
    if (difference === undefined) return undefined
    this.#differences.add(`${route.name}: ${difference}`)
    return Response.json({ undeclared: difference }, { status: 500 })
  }

  #routeOf({ method, url }: Pick<Request, 'method' | 'url'>): RouteRow | undefined {
    const { pathname } = new URL(url)
    const path = pathname.replace(/(?<=.)\/$/, '')
    return this.#patterns.find(({ row, pattern }) => row.method === method && pattern.test(path))
      ?.row
  }
}

/** The code of an error that no declaration of its route names. A page for people has none. */
async function undeclaredCode(
  declarations: readonly RouteDeclaration[],
  response: Response,
): Promise<string | undefined> {
  if (!response.headers.get('content-type')?.startsWith('application/json')) return undefined
  const { error } = (await response.clone().json()) as { readonly error: { readonly code: string } }
  if (declarations.some((route) => declaresError(route, error.code))) return undefined
  return `${response.status} ${error.code}`
}

/** A refusal may leave what strangers can cause as often as they like. */
function isDeclared({ audit, ...row }: RouteRow, event: string, status: number): boolean {
  if (audit === 'page' || !isChanging({ audit, ...row })) return true
  if (Array.isArray(audit) && audit.includes(event)) return true
  return status >= 400 && FREQUENT_EVENTS.some((frequent) => frequent === event)
}

const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${path
      .replaceAll(/[.]/g, String.raw`\.`)
      .replaceAll(/:\w+/g, '[^/]+')
      .replace('*', '.*')}$`,
  )

/** Fixed paths come before those with parameters. */
const rank = (path: string): number => path.split(/:\w+/).length + (path.includes('*') ? 100 : 0)
