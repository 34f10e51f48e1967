import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { RouteDeclaration } from '#http/route-declaration.ts'
import type { CreatedDeployToken } from '#identity/deploy-tokens/model.ts'
import { openCounters } from '#platform/redis/redis-counters.ts'
import { AdminPool } from '#test/admin-api.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HASH = '0'.repeat(64)
const DAY_MS = 24 * 3_600_000

let now = new Date()
let stack: Stack
const counters = await openCounters(undefined, silentLog)
beforeAll(async () => {
  stack = await startStack({ platform: { clock: { now: () => now }, counters } })
})
afterAll(() => stack[Symbol.asyncDispose]())

async function tokenOf(site: string, body: object = {}): Promise<CreatedDeployToken> {
  const made = await stack.portal('POST', `/sites/${site}/deploy-tokens`, { name: 'CI', ...body })
  expect(made.status, made.text).toBe(200)
  return made.json
}

const withToken = (token: string, method: string, path: string, body?: unknown) =>
  stack.call('localhost', method, `/portal/api/sites/${path}`, {
    token,
    ...(body === undefined ? {} : { body }),
  })

/** What opens with which scope; everything else opens with none. */
const OPENED: Readonly<Record<string, readonly string[]>> = {
  'POST /portal/api/sites/:siteId/deployments': ['deploy'],
  'GET /portal/api/sites/:siteId/deployments': ['deploy'],
  'POST /portal/api/sites/:siteId/deployments/fetch': ['deploy'],
  'GET /portal/api/sites/:siteId/deployments/current': ['deploy'],
  'GET /portal/api/sites/:siteId/deployments/:deploymentId': ['deploy'],
  'GET /portal/api/sites/:siteId/deployments/:deploymentId/changes': ['deploy'],
  'POST /portal/api/sites/:siteId/deployments/rollback': ['deploy'],
  'PUT /portal/api/sites/:siteId/deployments/:deploymentId/files/:sha256': ['deploy'],
  'POST /portal/api/sites/:siteId/deployments/:deploymentId/activate': ['deploy'],
  'GET /portal/api/sites/:siteId/deployments/:deploymentId/iac-job': ['deploy', 'iac'],
  'GET /portal/api/sites/:siteId/runtime': ['deploy', 'iac'],
  'GET /portal/api/sites/:siteId/logs': ['logs'],
  'POST /portal/api/sites/:siteId/iac/jobs': ['iac'],
  'GET /portal/api/sites/:siteId/iac/jobs/:jobId': ['iac'],
  'GET /portal/api/sites/:siteId/iac/export': ['iac'],
  'GET /portal/api/sites/:siteId/env-vars': ['iac'],
  'PUT /portal/api/sites/:siteId/env-vars': ['iac'],
}

const realPath = (path: string, site: string): string =>
  path.replace(':siteId', site).replace(':sha256', HASH).replaceAll(/:\w+/g, 'x').replace(/\/$/, '')

/** Whether a token opens a route of its site; that of others it must not. */
async function tried({ method: named, path }: RouteDeclaration, token: string): Promise<boolean> {
  const method = named === 'ALL' ? 'GET' : named
  const at = async (site: string) =>
    stack.call('walk.test', method, realPath(path, site), { token })
  const { status, json } = await at('walk.test')
  const others = path.includes(':siteId')
    ? [await at('two.test'), await at('nobody.test')]
    : [await stack.call('two.test', method, realPath(path, 'two.test'), { token })]
  // Each is a wrong guess: the network must not run out of them in this test.
  await counters.clear({ siteId: 'deploy-tokens', name: 'guess 127.0.0.1' })
  for (const other of others) {
    expect(other.status, `${method} ${path} of another site`).toBe(401)
    expect(other.text).not.toMatch(/walk|site_/)
  }
  return status !== 401 && json?.error?.code !== 'Forbidden'
}

describe('a deploy token', () => {
  test('is shown once, and kept as a hash', async () => {
    const made = await tokenOf('one.test', { scopes: ['deploy', 'iac'], expiresInDays: 30 })
    expect(made).toMatchObject({
      tokenId: expect.stringMatching(/^dtk_/),
      token: expect.stringMatching(/^croft_deploy_[\w-]{43}$/),
      scopes: ['deploy', 'iac'],
      createdBy: 'operator',
      lastUsedAt: null,
    })
    const listed = await stack.portal('GET', '/sites/one.test/deploy-tokens')
    expect(listed.json.items).toContainEqual(expect.objectContaining({ tokenId: made.tokenId }))
    expect(listed.text).not.toContain(made.token)
    const rows = await stack.inSite('one.test', (tx) =>
      tx.db.selectFrom('deploy_token').selectAll().where('site_id', '=', tx.siteId).execute(),
    )
    expect(JSON.stringify(rows)).not.toContain(made.token.slice(-20))
  })

  test('opens the routes of its scopes and refuses every other, and every other site', async () => {
    await stack.createSite({ domain: 'walk.test', superAdmins: ['ann@walk.test'] })
    // What the names in paths stand for here: an operation that answers every method.
    for (const domain of ['walk.test', 'two.test']) {
      const site = await RuntimeSite.open(stack, domain)
      const code = "export default { fetch: () => new Response('walk') }"
      const lambdaResourceId = await site.putFunction('x', code)
      await site.putOperation('x', { lambdaResourceId, http: true })
      await site.synced()
    }
    const scopes = ['deploy', 'logs', 'iac']
    const tokens = await Promise.all(
      scopes.map((scope) => tokenOf('walk.test', { scopes: [scope] })),
    )
    const opened: Record<string, string[]> = {}
    const closed = stack.app.routes.filter(
      ({ detail }) => !['open', 'signed-url', 'repository'].includes(String(detail['x-authority'])),
    )
    for (const route of closed) {
      for (const [index, scope] of scopes.entries()) {
        const isOpen = await tried(route, tokens[index]?.token ?? '')
        const name = `${route.method} ${route.path.replace(/\/$/, '')}`
        if (isOpen) opened[name] = [...(opened[name] ?? []), scope]
      }
    }
    expect(opened).toEqual(OPENED)
  })

  test('that was ended or has expired opens nothing', async () => {
    const ended = await tokenOf('one.test')
    const end = `/sites/one.test/deploy-tokens/${ended.tokenId}`
    expect((await withToken(ended.token, 'GET', 'one.test/runtime')).status).toBe(200)
    expect((await stack.portal('DELETE', end)).status).toBe(204)
    expect((await withToken(ended.token, 'GET', 'one.test/runtime')).status).toBe(401)
    expect(await stack.portal('DELETE', end)).toMatchObject({
      status: 404,
      json: { error: { code: 'DeployTokenNotFound' } },
    })
    const brief = await tokenOf('one.test', { expiresInDays: 1 })
    now = new Date(now.getTime() + DAY_MS)
    expect(await withToken(brief.token, 'GET', 'one.test/runtime')).toMatchObject({
      status: 401,
      json: { error: { code: 'TokenExpired' } },
    })
  })

  test('notes its last use, to the hour, and who made and ended it', async () => {
    const made = await tokenOf('two.test')
    await withToken(made.token, 'GET', 'two.test/runtime')
    const used = now.toISOString()
    now = new Date(now.getTime() + 60_000)
    await withToken(made.token, 'GET', 'two.test/runtime')
    const { json } = await stack.portal('GET', '/sites/two.test/deploy-tokens')
    expect(json.items).toContainEqual(
      expect.objectContaining({ tokenId: made.tokenId, lastUsedAt: used }),
    )
    await stack.portal('DELETE', `/sites/two.test/deploy-tokens/${made.tokenId}`)
    const { items } = (await stack.portal('GET', '/sites/two.test/audit')).json
    expect(items.slice(0, 2)).toMatchObject([
      { event: 'deploy-token.ended', actor: 'operator', detail: { tokenId: made.tokenId } },
      { event: 'deploy-token.created', actor: 'operator', detail: { scopes: 'deploy' } },
    ])
    expect(JSON.stringify(items)).not.toContain(made.token)
  })

  test.each([
    ['without a name', { name: '' }],
    ['with a control character in its name', { name: 'a\nb' }],
    ['with a scope that there is not', { scopes: ['everything'] }],
    ['without a scope', { scopes: [] }],
    ['for no day', { expiresInDays: 0 }],
    ['with a field that there is not', { siteId: 'two.test' }],
  ])('is not made %s', async (_what, body) => {
    const path = '/sites/one.test/deploy-tokens'
    expect(await stack.portal('POST', path, { name: 'CI', ...body })).toMatchObject({
      status: 400,
      json: { error: { code: 'ValidationError' } },
    })
  })

  test('is one of at most twenty, also when they are asked for at once', async () => {
    await stack.createSite({ domain: 'many.test' })
    const asked = Array.from({ length: 24 }, () =>
      stack.portal('POST', '/sites/many.test/deploy-tokens', { name: 'CI' }),
    )
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(statuses.filter((status) => status === 409)).toHaveLength(4)
  })
})

describe('super-admins of a site', () => {
  test('make, see and end its tokens; admins do not', async () => {
    const pool = new AdminPool(stack, 'one.test')
    const ann = await pool.first()
    const made = await ann.call('POST', '/deploy-tokens', { body: { name: 'Forge' } })
    expect(made).toMatchObject({ status: 200, json: { createdBy: ann.userId, scopes: ['deploy'] } })
    const admin = await pool.joined('admin')
    for (const [method, path] of [
      ['GET', '/deploy-tokens'],
      ['POST', '/deploy-tokens'],
      ['DELETE', `/deploy-tokens/${made.json.tokenId}`],
    ] as const) {
      const body = method === 'POST' ? { body: { name: 'x' } } : {}
      expect((await admin.call(method, path, body)).status).toBe(403)
    }
    expect((await ann.call('GET', '/deploy-tokens')).text).toContain(made.json.tokenId)
    expect((await ann.call('DELETE', `/deploy-tokens/${made.json.tokenId}`)).status).toBe(204)
  })

  test('take their tokens with them when they are none any more', async () => {
    const pool = new AdminPool(stack, 'two.test')
    await pool.first()
    const second = await pool.joined('super-admin')
    const { json } = await second.call('POST', '/deploy-tokens', { body: { name: 'Forge' } })
    expect((await withToken(json.token, 'GET', 'two.test/runtime')).status).toBe(200)
    await stack.inSite('two.test', (tx) =>
      tx.db
        .updateTable('pool_user')
        .set({ role: 'admin' })
        .where('site_id', '=', tx.siteId)
        .where('sub', '=', second.userId)
        .execute(),
    )
    expect((await withToken(json.token, 'GET', 'two.test/runtime')).status).toBe(401)
  })
})

test('a network that guesses has to wait, and no other', async () => {
  const { token } = await tokenOf('one.test')
  const from = (address: string, secret: string) =>
    stack.context.deployTokens
      .admit({ siteId: 'site_000000000000' }, { secret, scopes: ['deploy'], address })
      .catch((error: { code: string }) => error.code)
  const wrong = `croft_deploy_${'x'.repeat(43)}`
  const codes = []
  for (let guess = 0; guess < 31; guess++) codes.push(await from('192.0.2.7', wrong))
  expect(codes.slice(0, 30)).toEqual(Array(30).fill('Unauthorized'))
  expect(codes[30]).toBe('TooManyRequests')
  expect(await from('198.51.100.1', wrong)).toBe('Unauthorized')
  expect((await withToken(token, 'GET', 'one.test/runtime')).status).toBe(200)
})
