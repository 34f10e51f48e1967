import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type HttpApp, httpApp } from '#http/app.ts'
import { operatorApp } from '#http/operator-app.ts'
import { RequestTraffic } from '#http/request-traffic.ts'
import type { RouteDeclaration } from '#http/route-declaration.ts'
import { routeDeclarations } from '#http/route-declaration.ts'
import { operatorRoutes } from '#http/routes.ts'
import { EventLoopLag } from '#platform/event-loop-lag.ts'
import { startHttpServer } from '#platform/http-server/http-server.ts'
import { type Secrets, openCalledSite, othersOf } from '#test/callers.ts'
import { type GoldenSection, goldenChanges, goldenMarkdown } from '#test/golden-table.ts'
import { routeRows } from '#test/route-table.ts'
import { type CalledSite, type WalkedRoute, walk } from '#test/route-walk.ts'
import { type Stack, startStack } from '#test/stack.ts'

const FILE = 'golden-table.md'
const ACCEPT = 'npx vitest run --project services test/http/golden-table.test.ts -u'
const OTHER_HOST = 'other.test'
const HALF_AN_HOUR_MS = 30 * 60_000
const INTRO = [
  'What each mounted route responds to each kind of caller. Paths name a site and a pool that exist and nothing else that does;',
  `bodies are empty. Written by \`${ACCEPT}\`.`,
  '',
  '- `none`: no credential. `forged`: the super-admin’s token, signed with another key. `other …`: an access token or a deploy token of',
  '  another site. `unknown deploy`: a deploy token that no site has.',
  '- `visitor`: of the data pool. `user`, `admin`, `super-admin`: of the admin pool, signed in just now. `super-admin 30 min`: signed in 30',
  '  minutes ago. Under `/oidc/`, `visitor` and `super-admin` have a session at the sign-in of their pool, too.',
  '- `deploy`, `logs`, `iac`: a deploy token with that scope. `operator`: the operator key.',
]
/** The routes that change something with an empty body. Each is called on a site of its own: the other calls do not notice. */
const CHANGING = [
  'PUT /admin/api/auth-email-branding',
  'PUT /admin/api/profile',
  'DELETE /admin/api/profile/sessions',
  'POST /admin/api/super-admin-invites/resend',
  'DELETE /admin/data/env-vars',
  'POST /admin/data/reconcile',
  'PATCH /portal/api/sites/:siteId/auth',
  'PUT /portal/api/sites/:siteId/deploy-webhook',
  'POST /portal/api/sites/:siteId/dkim/rotate',
  'POST /portal/api/sites/:siteId/export',
  'POST /portal/api/sites/:siteId/keys/rotate',
  'POST /portal/api/sites/:siteId/mail-reparse',
]

describe('the golden table', () => {
  const cleanUp = new AsyncDisposableStack()
  let stack: Stack
  let earlier: Stack
  let others: Secrets
  let table: readonly [GoldenSection, ...GoldenSection[]]
  let sites = 0
  beforeAll(async () => {
    const config = { trustedProxies: ['127.0.0.1'] }
    stack = cleanUp.use(await startStack({ sites: [OTHER_HOST], config, sandbox: 'started' }))
    earlier = cleanUp.use(
      await startStack({
        beside: stack,
        works: false,
        platform: { clock: { now: () => new Date(Date.now() - HALF_AN_HOUR_MS) } },
      }),
    )
    others = await othersOf(stack, OTHER_HOST)
    table = await sections()
  })
  afterAll(() => cleanUp.disposeAsync())

  function newSite(kind?: 'admin'): Promise<CalledSite> {
    sites += 1
    return openCalledSite({ stack, earlier, host: `site-${sites}.test`, others }, kind)
  }

  async function walked(
    port: number,
    routes: readonly RouteDeclaration[],
    kind?: 'admin',
  ): Promise<WalkedRoute[]> {
    const site = await newSite(kind)
    const siteFor = (route: string) => (CHANGING.includes(route) ? newSite(kind) : site)
    return walk({ port, routes, siteFor })
  }

  /** The ports of two listeners, the operator's and that of the sites, and the routes of the first. */
  async function splitListeners() {
    const config = { ...stack.context.config, operator: { host: '127.0.0.1', port: 0 } }
    const context = { ...stack.context, config }
    const eventLoop = cleanUp.use(new EventLoopLag())
    const watch = { traffic: new RequestTraffic(), eventLoop, version: '1.2.3' }
    const listen = async (app: Pick<HttpApp, 'fetch'>) => {
      const server = await startHttpServer({
        fetch: (incoming, peer) => app.fetch(incoming, peer),
        hostname: '127.0.0.1',
        port: 0,
      })
      cleanUp.defer(() => server.drain(0))
      return server.port
    }
    return {
      operatorPort: await listen(operatorApp(context, watch)),
      sitesPort: await listen(httpApp(context)),
      routes: routeDeclarations(operatorRoutes(context, watch)),
    }
  }

  async function sections(): Promise<typeof table> {
    const { app, port } = stack
    const { operatorPort, sitesPort, routes } = await splitListeners()
    const ofPools = app.routes.filter(({ path }) => path.startsWith('/oidc/'))
    return [
      {
        title: 'All routes',
        says: 'At `PORT`, without `OPERATOR_PORT`. The pool under `/oidc/` is that of visitors.',
        rows: await walked(port, app.routes),
      },
      {
        title: 'The admin pool',
        says: 'The routes under `/oidc/`.',
        rows: await walked(port, ofPools, 'admin'),
      },
      {
        title: 'The operator’s listener',
        says: 'At `OPERATOR_PORT`.',
        rows: await walked(operatorPort, routes),
      },
      {
        title: 'The sites’ listener beside the operator’s',
        says: 'The same routes at `PORT`, with `OPERATOR_PORT`.',
        rows: await walked(sitesPort, routes),
      },
    ]
  }

  test('reads as `golden-table.md` says', async () => {
    const markdown = goldenMarkdown(INTRO, table)
    const kept = await readFile(join(import.meta.dirname, FILE), 'utf8').catch(() => '')
    await explained(expect(markdown).toMatchFileSnapshot(FILE), () => goldenChanges(kept, markdown))
  })

  test('has no cell that a limit or a fault of ours made', () => {
    const cells = table.flatMap(({ rows }) => rows.flatMap((row) => Object.values(row.cells)))
    expect(cells.length).toBeGreaterThan(9000)
    expect(cells.filter((cell) => /^(?:429|5)/.test(cell))).toEqual([])
  })

  test('has no success of a changing route that shares its site', () => {
    const [{ rows }] = table
    const changing = rows.filter(
      ({ route, cells }) => isChangingRoute(route) && Object.values(cells).some(isSuccess),
    )
    expect(changing.map(({ route }) => route)).toEqual(CHANGING)
  })

  test('refuses and admits as each route declares', () => {
    const [{ rows }] = table
    const authorities = new Map(
      routeRows(stack.app.routes).map(({ name, authority = '' }) => [name, authority]),
    )
    const wrong = rows
      .filter(({ route }) => !route.startsWith('ALL '))
      .flatMap(({ route, cells }) =>
        Object.entries(cells).flatMap(([caller, cell]) => {
          const refusal = refusalOf(authorities.get(route) ?? '', caller)
          const is = cell === '401' || cell === '403' ? cell : undefined
          return refusal === 'any' || refusal === is ? [] : [`${route}, ${caller}: ${cell}`]
        }),
      )
    expect(wrong).toEqual([])
  })
})

const PEOPLE = ['user', 'admin', 'super-admin', 'super-admin 30 min']
const LEAST: Readonly<Record<string, number>> = {
  'role:user': 0,
  'role:admin': 1,
  'role:super-admin': 2,
}
const SCOPES = ['deploy', 'logs', 'iac']

/** What a route with that authority responds to a caller that it refuses; `any` where a credential is not what admits. */
function refusalOf(authority: string, caller: string): '401' | '403' | 'any' | undefined {
  if (authority === 'open' || authority === 'signed-url') return 'any'
  if (authority === 'visitor' || authority === 'operator') {
    return caller === authority ? undefined : '401'
  }
  const least = LEAST[authority]
  if (least !== undefined) return refusalBelow(PEOPLE, caller, PEOPLE.slice(least))
  if (caller === 'operator' && authority !== 'repository') return undefined
  const scopes = authority === 'repository' ? ['deploy'] : authority.split(/[:|]/).slice(1)
  return refusalBelow(SCOPES, caller, scopes)
}

/** 401 for a caller who is not known, 403 for one who is, but not admitted. */
function refusalBelow(known: readonly string[], caller: string, admitted: readonly string[]) {
  if (!known.includes(caller)) return '401'
  return admitted.includes(caller) ? undefined : '403'
}

/** Fails with the cells that differ, instead of the lines. */
async function explained(comparison: Promise<void>, changes: () => string[]): Promise<void> {
  try {
    await comparison
  } catch (cause) {
    const lines = [`${FILE} differs:`, ...changes(), `To accept the changes: ${ACCEPT}`]
    throw new Error(lines.join('\n'), { cause })
  }
}

describe('the changes of a table', () => {
  const row = (route: string, none: string, admin: string) => ({ route, cells: { none, admin } })
  const table = (...rows: WalkedRoute[]) =>
    goldenMarkdown(
      [],
      [
        { title: 'First', says: '', rows },
        { title: 'Second', says: '', rows: [row('GET /c', '401', '404 Thing')] },
      ],
    )

  test('name the section, the route and the caller of each cell', () => {
    const before = table(row('GET /a', '401', '200'), row('GET /b', '401', '200'))
    const after = table(row('GET /a', '404', '200'), row('PUT /b', '401', '400 TooLong'))
    expect(goldenChanges(before, after)).toEqual([
      'First: GET /a, none: 401 → 404',
      'First: PUT /b, none: not there → 401',
      'First: PUT /b, admin: not there → 400 TooLong',
      'First: GET /b, none: 401 → not there',
      'First: GET /b, admin: 200 → not there',
    ])
    expect(goldenChanges(after, after)).toEqual([])
  })

  test('leave out what a later section has in common with the first', () => {
    expect(table(row('GET /c', '401', '404 Thing'))).toContain('1 of 1 routes respond as above')
    expect(table(row('GET /c', '401', '200'))).toContain('| `GET /c` | 401 | 404 Thing |')
  })
})

const isChangingRoute = (route: string): boolean => !/^(?:GET|HEAD|OPTIONS) /.test(route)

const isSuccess = (cell: string): boolean => cell.startsWith('2')
