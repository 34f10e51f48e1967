import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool } from '#test/admin-api.ts'
import { type Ids, type Route, furnish, routesOf } from '#test/furnished-site.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HOST = 'one.test'

/** Under `/admin/data`, beside those that name one thing of the site. */
const adminRows = (ids: Ids): readonly Route[] => [
  ...routesOf(ids),
  ['GET', '/resources'],
  ['POST', '/resources', { type: 's3Bucket', name: 'intruder' }],
  ['POST', `/resources/${ids.table}/data/ddb/no-such-action`],
  ['POST', `/resources/${ids.bucket}/data/s3/no-such-action`],
  ['POST', '/reconcile'],
  ['POST', '/operations/theirs/profile', {}],
  ['GET', '/jobs'],
  ['GET', '/groups'],
  ['GET', '/users'],
  ['POST', '/groups', { groupName: 'intruder' }],
  ['GET', '/env-vars'],
  ['PUT', '/env-vars', { variables: { INTRUDER: { value: 'x', secret: false } } }],
  ['DELETE', '/env-vars'],
  ['POST', '/compute/execute', { code: 'module.exports = async () => 1', payload: {} }],
  ['GET', '/iac/jobs'],
  ['GET', '/iac/export'],
  ['GET', '/iac/definitions'],
  ['PUT', '/iac/definitions/intruder', { definition: {} }],
  ['GET', '/logs'],
  ['GET', '/usage'],
]

/** Under `/data`. */
const VISITOR_ROWS: readonly Route[] = [
  ['POST', '/theirs', { payload: 1 }],
  ['POST', '/guarded', { payload: 1 }],
  ['POST', '/no-such-operation', { payload: 1 }],
  ['GET', '/page'],
  ['DELETE', '/page/below?a=1'],
  ['GET', '/auth/methods'],
  ['POST', '/auth/password/add', { password: 'Correct-Horse-9-Battery' }],
  ['POST', '/auth/proof/start', { action: 'google', method: 'passkey' }],
  [
    'POST',
    '/auth/providers/google/link/start',
    {
      redirectUri: 'http://one.test/',
      codeChallenge: 'c'.repeat(43),
      codeChallengeMethod: 'S256',
    },
  ],
]
const OPEN_ROWS: readonly Route[] = [
  ['POST', '/public/theirs', { payload: 1 }],
  ['GET', '/public/page'],
  ['PUT', '/public/page/below'],
  ['GET', '/auth/config'],
  ['GET', '/public/auth/config'],
  ['GET', '/openapi.json'],
]

type Tokens = Readonly<Record<string, string>>

let stack: Stack
let yesterday: Stack
let site: RuntimeSite
let ids: Ids
let admins: RelyingParty
let visitors: RelyingParty
beforeAll(async () => {
  stack = await startStack()
  yesterday = await startStack({
    beside: stack,
    works: false,
    platform: { clock: { now: () => new Date(Date.now() - 24 * 3_600_000) } },
  })
  site = await RuntimeSite.open(stack, HOST)
  ids = await furnish(stack, site)
  await site.admin('POST', '/groups', { groupName: 'own' })
  await site.admin('PUT', '/env-vars', { variables: { KEPT: { value: 'kept', secret: false } } })
  const auth = { mode: 'groups', groups: [ids.group] }
  await site.putOperation('guarded', { preset: { preset: 'echo' }, auth })
  const page = await site.putFunction(
    'page',
    "export default { fetch: () => new Response('inside') }",
  )
  await site.putOperation('page', { lambdaResourceId: page, http: true, auth })
  await site.synced()
  admins = await RelyingParty.of(stack, HOST, 'admin')
  visitors = await RelyingParty.of(stack, HOST, 'data')
})
afterAll(async () => {
  await yesterday[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

const ask = (token: string, prefix: string, [method, path, body]: Route) =>
  stack.call(HOST, method, `${prefix}${path}`, { token, ...(body !== undefined && { body }) })

/** Signs in, and out again everywhere. */
async function signedOut(party: RelyingParty, user: string): Promise<Tokens> {
  const tokens = await party.tokens(user)
  expect(await party.isTaken(tokens.access_token)).toBe(true)
  const query = `user=${encodeURIComponent(user)}&pool=${party.pool.kind}`
  expect((await stack.portal('DELETE', `/sites/${HOST}/sessions?${query}`)).status).toBeLessThan(
    300,
  )
  const { access_token: access, id_token: id = '', refresh_token: refresh } = tokens
  return {
    'an access token of a sign-in that was ended': access,
    'an id token of a sign-in that was ended': id,
    'a refresh token': refresh,
  }
}

/** What neither family of routes takes. */
const strangers = async (): Promise<Tokens> => ({
  'the operator key': stack.operatorKey,
  'an admin of another site': await stack.adminToken('two.test'),
  'a visitor of another site': await stack.dataToken('two.test', { user: ids.user }),
})

async function wrongAdmins(): Promise<Tokens> {
  const pool = new AdminPool(stack, HOST)
  const ann = await pool.first()
  const [deleted, demoted] = [await pool.joined('admin'), await pool.joined('admin')]
  for (const { token } of [deleted, demoted]) expect(await admins.isTaken(token)).toBe(true)
  await ann.call('DELETE', `/users/${deleted.userId}`)
  await ann.call('PATCH', `/users/${demoted.userId}`, { body: { role: 'user' } })
  await stack.adminToken(HOST, 'admin')
  const roles = { user: ann.email, groups: ['admin', 'super-admin'] }
  return {
    ...(await strangers()),
    ...(await signedOut(admins, `admin@${HOST}`)),
    'a visitor with the name and the roles of the super-admin': await stack.dataToken(HOST, roles),
    'an id token of a visitor': (await visitors.tokens('vic@example.test')).id_token ?? '',
    'an admin whose token has expired': await yesterday.adminToken(HOST),
    'an admin who was deleted': deleted.token,
    'an admin who was made a user': demoted.token,
    'a user without that role': await stack.adminToken(HOST, 'user'),
  }
}

async function wrongVisitors(): Promise<Tokens> {
  const deleted = await stack.dataToken(HOST, { user: 'gone@example.test' })
  await stack.inSite(HOST, (tx) =>
    tx.db.deleteFrom('pool_user').where('email', '=', 'gone@example.test').execute(),
  )
  await stack.adminToken(HOST, 'admin')
  return {
    ...(await strangers()),
    ...(await signedOut(visitors, 'out@example.test')),
    'the super-admin': await stack.adminToken(HOST),
    'an id token of an admin': (await admins.tokens(`admin@${HOST}`)).id_token ?? '',
    'an id token of a visitor': (await visitors.tokens('vic@example.test')).id_token ?? '',
    'a visitor whose token has expired': await yesterday.dataToken(HOST),
    'a visitor who was deleted': deleted,
  }
}

/** What an intruder would have changed. */
const standing = async () => {
  const reads: readonly Route[] = [
    ['GET', '/resources'],
    ['GET', '/iac/export'],
    ['GET', '/iac/jobs'],
    ['GET', '/iac/definitions'],
    ['GET', `/jobs/${ids.job}/runs`],
    ['GET', `/groups/${ids.group}/users`],
    ['GET', `/users/${ids.visitor}`],
    ['POST', `/resources/${ids.table}/data/ddb/scan`, {}],
    ['POST', `/resources/${ids.bucket}/data/s3/list-objects`, {}],
  ]
  return Promise.all(reads.map(async (read) => (await site.admin(...read)).json))
}

describe('the routes of the data runtime', () => {
  test('have each a row here', () => {
    const served = new Set<string>()
    const routes = stack.app.routes
      .map(({ method, path }) => ({ method, path: path.replace(/(?<=.)\/$/, '') }))
      .filter(({ path }) => /^(?:\/admin)?\/data(?:\/|$)/.test(path))
    const rows = [
      ...adminRows(ids).map(([method, path]) => [method, `/admin/data${path}`] as const),
      ...[...VISITOR_ROWS, ...OPEN_ROWS].map(([method, path]) => [method, `/data${path}`] as const),
    ]
    for (const [method, path] of rows) {
      const [best] = routes
        .filter((route) => [method, 'ALL'].includes(route.method) && matches(route.path, path))
        .toSorted((a, b) => a.path.split(/[:*]/).length - b.path.split(/[:*]/).length)
      expect(best, `${method} ${path} is a route`).toBeDefined()
      served.add(`${best?.method} ${best?.path}`)
    }
    const all = new Set(routes.map(({ method, path }) => `${method} ${path}`))
    expect([...all].filter((route) => !served.has(route))).toEqual([])
  })

  test('of admins refuse every other caller, on things that exist, and do nothing', async () => {
    const before = await standing()
    for (const [who, token] of Object.entries(await wrongAdmins())) {
      const status = who === 'a user without that role' ? 403 : 401
      for (const row of adminRows(ids)) {
        const answer = await ask(token, '/admin/data', row)
        expect(answer.status, `${row[0]} ${row[1]} for ${who}: ${answer.text}`).toBe(status)
        expect(answer.text).not.toMatch(/secretive|inside|things/)
      }
    }
    expect(await standing()).toEqual(before)
  })

  test('of visitors refuse every other caller', async () => {
    for (const [who, token] of Object.entries(await wrongVisitors())) {
      for (const row of VISITOR_ROWS) {
        const answer = await ask(token, '/data', row)
        expect(answer.status, `${row[0]} ${row[1]} for ${who}: ${answer.text}`).toBe(401)
        expect(answer.json).toMatchObject({ ok: false })
      }
    }
  })

  test('believe the groups that a visitor is in now, and not those that the token names', async () => {
    const member = (method: string) =>
      site.admin(method, `/groups/${ids.group}/users`, { username: ids.user })
    const guarded = async (token: string) =>
      (await ask(token, '/data', ['POST', '/guarded', { payload: 1 }])).status
    const before = (await visitors.tokens(ids.user)).access_token
    expect(await guarded(before)).toBe(403)
    await member('POST')
    const named = (await visitors.tokens(ids.user)).access_token
    expect([await guarded(before), await guarded(named)]).toEqual([200, 200])
    await member('DELETE')
    expect([await guarded(before), await guarded(named)]).toEqual([403, 403])
    expect((await site.call('guarded', 1)).status).toBe(401)
  })

  test('take the right token on the same things', async () => {
    const token = await stack.adminToken(HOST, 'admin')
    const rows = adminRows(ids).filter(([method, path]) => {
      return method !== 'DELETE' && !path.endsWith('/no-such-action')
    })
    for (const row of rows) {
      const answer = await ask(token, '/admin/data', row)
      const where = `${row[0]} ${row[1]}: ${answer.text}`
      expect([401, 403, 404, 405, 500], where).not.toContain(answer.status)
    }
  })
})

function matches(pattern: string, path: string): boolean {
  const [parts, steps] = [pattern.split('/'), path.replace(/\?.*/, '').split('/')]
  const open = parts.at(-1) === '*' ? parts.pop() : undefined
  return (
    (open === undefined ? parts.length === steps.length : parts.length < steps.length) &&
    parts.every((part, at) => part.startsWith(':') || part === steps[at])
  )
}
