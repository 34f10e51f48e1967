import { Elysia, t } from 'elysia'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { EFFECTS } from '#base/effects.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { authority } from '#http/plugins/authority.ts'
import { UNRECORDED, changesDetail } from '#http/plugins/changes.ts'
import { effectsDetail } from '#http/plugins/effects.ts'
import { RequestTraffic } from '#http/request-traffic.ts'
import { routeDeclarations } from '#http/route-declaration.ts'
import { operatorRoutes } from '#http/routes.ts'
import { SECURITY_EVENTS } from '#identity/security-events/model.ts'
import { EventLoopLag } from '#platform/event-loop-lag.ts'
import { type RouteRow, isChanging, routeRows, stepUpOf } from '#test/route-table.ts'
import { type Stack, startStack } from '#test/stack.ts'

const REASONS = new Set(Object.keys(UNRECORDED))
const EVENTS: ReadonlySet<string> = new Set(SECURITY_EVENTS)
const UNKNOWN = { 'x-audit': ['never'] }
const OTHER = { 'x-response': 'anything' }
const KNOWN = new Set(EFFECTS.flatMap((effect) => [effect, `${effect}?`]))

let stack: Stack
let rows: readonly RouteRow[]
beforeAll(async () => {
  stack = await startStack()
  using eventLoop = new EventLoopLag()
  const watch = { traffic: new RequestTraffic(), eventLoop, version: '1.2.3' }
  const operators = routeDeclarations(operatorRoutes(stack.context, watch))
  rows = routeRows([...operators, ...stack.app.routes])
})
afterAll(() => stack[Symbol.asyncDispose]())

/** The names of routes that lack a declaration. */
const undeclared = (table: readonly RouteRow[]): string[] =>
  table
    .filter(
      (row) =>
        row.authority === undefined ||
        (isChanging(row) && (row.effects === undefined || !isAudited(row))) ||
        (row.effects ?? []).some((effect) => !KNOWN.has(effect)) ||
        ((row.effects ?? []).length > 0 && stepUpOf(row) === undefined),
    )
    .map(({ name }) => name)

const isAudited = ({ audit = [] }: RouteRow): boolean =>
  typeof audit === 'string'
    ? REASONS.has(audit)
    : audit.length > 0 && audit.every((event) => EVENTS.has(event))

/** The routes of the two APIs that say nothing of their response. */
const withoutResponse = (table: readonly RouteRow[]): string[] =>
  table
    .filter(
      ({ path, schemas, responds }) =>
        /^\/(?:admin|portal)(?:\/|$)/.test(path) &&
        Object.keys(schemas).length === 0 &&
        responds === undefined,
    )
    .map(({ name }) => name)

/** The routes of the two APIs that do not say what they do: an imperative and its object, without a full stop. */
const withoutSummary = (table: readonly RouteRow[]): string[] =>
  table
    .filter(
      ({ path, summary = '' }) =>
        /^\/(?:admin|portal)(?:\/|$)/.test(path) && !/^[A-Z][a-z]+ .*[^.]$/.test(summary),
    )
    .map(({ name }) => name)

describe('the route table', () => {
  test('declares authority, audit event and effects of each route, and a proof where no credential is asked for', () => {
    expect(undeclared(rows)).toEqual([])
    expect(rows.filter(isChanging).length).toBeGreaterThan(150)
  })

  test('is incomplete with a changing route that declares no audit event or effects', () => {
    const forgetful = new Elysia()
      .use(adminAuth(stack.context))
      .post('/admin/api/new', () => 'done', { role: 'admin' })
      .post('/admin/api/none', () => 'done', {
        role: 'admin',
        changes: { audit: ['alias.changed'], effects: [] },
      })
      .post('/admin/api/silent', () => 'done', {
        detail: { ...authority('open', 'anyone'), ...effectsDetail([]) },
      })
      .post('/admin/api/unknown', () => 'done', {
        detail: { ...authority('open', 'anyone'), ...effectsDetail([]), ...UNKNOWN },
      })
      .post('/admin/api/open', () => 'done', {
        detail: {
          ...authority('open', 'anyone'),
          ...changesDetail({ audit: ['alias.changed'], effects: ['movesMail'] }),
        },
      })
      .delete('/admin/api/bare', () => 'done')
    expect(undeclared(routeRows(routeDeclarations(forgetful)))).toEqual([
      'DELETE /admin/api/bare',
      'POST /admin/api/new',
      'POST /admin/api/open',
      'POST /admin/api/silent',
      'POST /admin/api/unknown',
    ])
  })

  test('declares the response of each route of /admin and /portal', () => {
    expect(withoutResponse(rows)).toEqual([])
    expect(rows.filter(({ schemas }) => '200' in schemas).length).toBeGreaterThan(200)
  })

  test('is incomplete with a route that declares no response', () => {
    const silent = new Elysia()
      .use(adminAuth(stack.context))
      .get('/admin/api/silent', () => 'done', { role: 'admin' })
      .get('/portal/api/said', () => 'done', { role: 'admin', response: t.String() })
      .get('/portal/api/events', () => 'done', { role: 'admin', responds: 'events' })
      .get('/portal', () => 'done', { detail: { ...authority('open', 'anyone'), ...OTHER } })
    expect(withoutResponse(routeRows(routeDeclarations(silent)))).toEqual([
      'GET /admin/api/silent',
      'GET /portal',
    ])
  })

  test('says of each route of /admin and /portal what it does', () => {
    expect(withoutSummary(rows)).toEqual([])
  })

  test('is incomplete with a route that does not say what it does', () => {
    const silent = new Elysia()
      .use(adminAuth(stack.context))
      .get('/admin/api/silent', () => 'done', { role: 'admin' })
      .get('/admin/api/said', () => 'done', { role: 'admin', summary: 'Get what was said' })
      .get('/portal/api/word', () => 'done', { role: 'admin', summary: 'Word' })
    expect(withoutSummary(routeRows(routeDeclarations(silent)))).toEqual([
      'GET /admin/api/silent',
      'GET /portal/api/word',
    ])
  })

  test('reads as `route-table.md` says', async () => {
    await expect(markdown(rows)).toMatchFileSnapshot('route-table.md')
  })
})

const auditOf = ({ audit = [] }: RouteRow): string =>
  typeof audit === 'string' ? `*${audit}*` : audit.join(', ')

/** A change of the file is a decision: it belongs in review. */
function markdown(table: readonly RouteRow[]): string {
  const cells = table.map((row) => [
    `\`${row.name}\``,
    row.gate ?? '',
    row.authority?.replaceAll('|', ' or ') ?? '',
    auditOf(row),
    row.effects?.join(', ') ?? '',
    stepUpOf(row) ?? '',
    row.mount ?? '',
  ])
  const lines = [
    ['Route', 'Gate', 'Authority', 'Audit', 'Effects', 'Step-up', 'Mount'],
    ['-----', '----', '---------', '-----', '-------', '-------', '-----'],
    ...cells,
  ].map((line) => `| ${line.join(' | ')} |`)
  return [
    '# The routes',
    '',
    'Every mounted route, at both listeners: what lets a request in, who may call it, what the audit trail says of its change, what it',
    'does that outlasts a token (`?`: if the request asks for it), and what the caller shows for that. `both`: one declaration is mounted',
    'for admins of a site and for the operator. Written by',
    '`npx vitest run test/http/route-table.test.ts -u`. Without an entry in the audit trail, and why:',
    '',
    ...Object.entries(UNRECORDED).map(([name, why]) => `- *${name}*: ${why}`),
    '',
    ...lines,
    '',
  ].join('\n')
}
