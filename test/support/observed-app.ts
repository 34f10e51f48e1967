import { AsyncLocalStorage } from 'node:async_hooks'

import type { AppContext } from '#context'
import type { HttpApp } from '#http/app.ts'
import { FREQUENT_EVENTS } from '#identity/security-events/model.ts'
import type { Peer } from '#platform/http-server/http-server.ts'

import { type RouteRow, isChanging, routeRows } from './route-table.ts'

/** The service, as an observer of what its requests write to the audit trail, which it compares with what their routes declare. */
export class ObservedApp implements HttpApp {
  readonly routes: HttpApp['routes']
  /** `{method} {path} {event}` of what requests wrote that were not refused. */
  readonly recorded = new Set<string>()
  readonly #undeclared = new Set<string>()
  readonly #app: HttpApp
  readonly #events = new AsyncLocalStorage<string[]>()
  readonly #patterns: readonly { readonly row: RouteRow; readonly pattern: RegExp }[]

  constructor(app: HttpApp, { securityEvents }: Pick<AppContext, 'securityEvents'>) {
    this.#app = app
    this.routes = app.routes
    this.#patterns = routeRows(app.routes)
      .map((row) => ({ row, pattern: patternOf(row.path) }))
      .toSorted((a, b) => rank(a.row.path) - rank(b.row.path))
    const record = securityEvents.record.bind(securityEvents)
    securityEvents.record = async (tx, event) => {
      const events = this.#events.getStore()
      await record(tx, event)
      tx.onCommit(() => events?.push(event.event))
    }
  }

  async fetch(request: Request, peer: Peer): Promise<Response> {
    const events: string[] = []
    const response = await this.#events.run(events, () => this.#app.fetch(request, peer))
    const route = events.length > 0 && this.#routeOf(request)
    if (route) this.#compare(route, response.status, events)
    return response
  }

  /** Throws when a request wrote what its route does not declare. */
  check(): void {
    if (this.#undeclared.size === 0) return
    throw new Error(`Undeclared audit events: ${[...this.#undeclared].join(', ')}`)
  }

  #compare(route: RouteRow, status: number, events: readonly string[]): void {
    for (const event of events) {
      if (!isDeclared(route, event, status))
        this.#undeclared.add(`${route.name} ${event} (${status})`)
      if (status < 400) this.recorded.add(`${route.name} ${event}`)
    }
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
