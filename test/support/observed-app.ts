import { AsyncLocalStorage } from 'node:async_hooks'

import type { AppContext } from '#context'
import type { HttpApp } from '#http/app.ts'
import { FREQUENT_EVENTS } from '#identity/security-events/model.ts'
import type { Peer } from '#platform/http-server/http-server.ts'

import { type RouteRow, isChanging, routeRows } from './route-table.ts'

/** A request, and what it wrote to the audit trail; a response that is streamed may go on to write. */
interface ObservedCall extends Pick<Request, 'method' | 'url'> {
  status: number
  readonly events: string[]
}

/** The service, as an observer of what its requests write to the audit trail, which it compares with what their routes declare. */
export class ObservedApp implements HttpApp {
  /** Without the observer. */
  readonly observed: HttpApp
  readonly routes: HttpApp['routes']
  /** Those that wrote something. */
  readonly #calls = new Set<ObservedCall>()
  readonly #current = new AsyncLocalStorage<ObservedCall>()
  readonly #patterns: readonly { readonly row: RouteRow; readonly pattern: RegExp }[]

  constructor(app: HttpApp, { securityEvents }: Pick<AppContext, 'securityEvents'>) {
    this.observed = app
    this.routes = app.routes
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
    return response
  }

  /** `{method} {path} {event}` of what requests wrote that were not refused. */
  get recorded(): ReadonlySet<string> {
    const entries = [...this.#calls].flatMap(({ status, events, ...request }) => {
      const name = this.#routeOf(request)?.name
      return status < 400 ? events.map((event) => `${name} ${event}`) : []
    })
    return new Set(entries)
  }

  /** Throws when a request wrote what its route does not declare. */
  check(): void {
    const undeclared = new Set<string>()
    for (const { status, events, ...request } of this.#calls) {
      const route = this.#routeOf(request)
      for (const event of events) {
        if (route && !isDeclared(route, event, status))
          undeclared.add(`${route.name} ${event} (${status})`)
      }
    }
    if (undeclared.size > 0)
      throw new Error(`Undeclared audit events: ${[...undeclared].join(', ')}`)
  }

  #routeOf({ method, url }: Pick<Request, 'method' | 'url'>): RouteRow | undefined {
    const { pathname } = new URL(url)
    const path = pathname.replace(/(?<=.)\/$/, '')
    return this.#patterns.find(({ row, pattern }) => row.method === method && pattern.test(path))
      ?.row
  }
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
