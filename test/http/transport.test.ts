import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { WALLS } from '#platform/sandbox-host/walls/walls.ts'
import { asAdmin } from '#test/postgres.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sandbox: 'started' })
})
afterAll(() => stack[Symbol.asyncDispose]())

describe('the service', () => {
  test('says that it lives and what is ready', async () => {
    expect((await stack.call('any.host', 'GET', '/healthz')).json).toEqual({ status: 'ok' })
    const ready = await stack.call('any.host', 'GET', '/readyz')
    expect(ready.status).toBe(200)
    expect(ready.json).toEqual({
      status: 'ready',
      checks: { postgres: 'ok', objects: 'ok', disk: 'ok', sandbox: 'ok' },
    })
  })

  test('says which walls stand around site code to the operator alone', async () => {
    const token = stack.operatorKey
    const ready = await stack.call('any.host', 'GET', '/readyz', { token })
    const { walls } = ready.json
    expect(walls.map(({ wall }: { wall: string }) => wall)).toEqual(WALLS)
    for (const { stands, reason } of walls) expect(reason === null).toBe(stands)
    const other = await stack.call('any.host', 'GET', '/readyz', { token: 'another key' })
    expect(other.json).not.toHaveProperty('walls')
    const told = await stack.call('any.host', 'GET', '/portal/api/diagnosis', { token })
    expect(told.json).toEqual({ ...other.json, walls })
  })

  test('gives every answer an id of its own, which tells nothing of the others', async () => {
    const answers = await Promise.all([1, 2].map(() => stack.call('x', 'GET', '/healthz')))
    const ids = answers.map(({ headers }) => headers['x-request-id'] ?? '')
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}$/)
    const [one = '', other = ''] = ids
    expect(one.slice(0, 8)).not.toBe(other.slice(0, 8))
    expect(one.slice(-8)).not.toBe(other.slice(-8))
  })

  test.each([
    ['an unknown path', 'GET', '/nowhere', 404, 'RouteNotFound'],
    ['a known path with another method', 'DELETE', '/admin/public/config', 405, 'MethodNotAllowed'],
  ])('answers %s with the body of the admin routes', async (_what, method, path, status, code) => {
    const answer = await stack.call('one.test', method, path)
    expect(answer).toMatchObject({
      status,
      json: { error: { code, requestId: answer.headers['x-request-id'] } },
    })
  })

  test('answers under /data with the envelope', async () => {
    const answer = await stack.call('one.test', 'GET', '/data/a/b/c/d')
    expect(answer).toMatchObject({
      status: 404,
      json: { ok: false, error: { code: 'RouteNotFound' } },
    })
  })

  test('names the host that is no site', async () => {
    for (const [method, path] of [
      ['GET', '/admin/public/config'],
      ['POST', '/data/public/x'],
    ] as const) {
      const answer = await stack.call('nobody.test', method, path)
      const message = expect.stringMatching(
        /^No site has the domain "nobody\.test.*: the Host header/,
      )
      expect(answer).toMatchObject({
        status: 404,
        json: { error: { code: 'SiteNotFound', message } },
      })
    }
  })

  const DEEP = '['.repeat(50_000) + ']'.repeat(50_000)
  const WIDE = `[${'1,'.repeat(100_000)}1]`

  test.each([
    ['nested too deep', DEEP],
    ['of too many values', WIDE],
  ])('refuses the JSON of operators and visitors that is %s', async (_what, text) => {
    const headers = { 'content-type': 'application/json' }
    const answers = [
      await stack.call('one.test', 'POST', '/portal/api/sites', {
        token: stack.operatorKey,
        headers,
        body: `{"domain":${text}}`,
      }),
      await stack.call('one.test', 'POST', '/data/auth/password/add', {
        token: await stack.dataToken('one.test'),
        headers,
        body: `{"password":${text}}`,
      }),
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
      expect(answer.json.error.limit).toBeGreaterThan(0)
    }
  })

  test.each([
    ['text', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['nothing that it names', {}],
  ])('says what to send when JSON is sent as %s', async (_what, headers) => {
    const body = '{"type":"s3Bucket","name":"photos"}'
    const token = await stack.adminToken('one.test')
    const answer = await stack.call('one.test', 'POST', '/admin/data/resources', {
      token,
      headers,
      body,
    })
    expect(answer).toMatchObject({
      status: 415,
      json: { error: { code: 'UnsupportedMediaType' } },
    })
    expect(answer.json.error.message).toContain('application/json')
  })

  test('says that a body is missing when there is none', async () => {
    const token = await stack.adminToken('one.test')
    const answer = await stack.call('one.test', 'POST', '/admin/data/resources', { token })
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
  })

  test('takes an ordinary form for JSON nowhere, though all of its fields are right', async () => {
    const answer = await stack.call('one.test', 'POST', '/portal/api/sites/one.test/tokens', {
      token: stack.operatorKey,
      body: 'user=ann%40one.test',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(answer).toMatchObject({ status: 415, json: { error: { code: 'UnsupportedMediaType' } } })
  })

  test('refuses a body that is too long before it reads it', async () => {
    const answer = await stack.call('one.test', 'POST', '/portal/api/sites', {
      token: stack.operatorKey,
      headers: { 'content-length': String(100 * 1024 * 1024) },
    })
    expect(answer).toMatchObject({ status: 413, json: { error: { code: 'PayloadTooLarge' } } })
  })

  test('believes X-Forwarded-Host from a trusted proxy only', async () => {
    const headers = { 'x-forwarded-host': 'one.test' }
    const untrusted = await stack.call('nobody.test', 'GET', '/admin/public/config', { headers })
    expect(untrusted.status).toBe(404)
    await using behind = await startStack({
      beside: stack,
      config: { trustedProxies: ['127.0.0.1'] },
    })
    const trusted = await behind.call('nobody.test', 'GET', '/admin/public/config', { headers })
    expect(trusted.json).toMatchObject({ siteDomain: 'one.test' })
  })
})

describe('other origins', () => {
  const preflight = (host: string, path: string, origin: string, method = 'GET') =>
    stack.call(host, 'OPTIONS', path, {
      headers: { origin, 'access-control-request-method': method },
    })

  test('that the site names may read its data routes, and no other may', async () => {
    await stack.portal('PATCH', '/sites/two.test', {
      deploymentSettings: { cors: { origins: ['https://app.two.test'] } },
    })
    const named = await preflight('two.test', '/data/auth/config', 'https://app.two.test')
    expect(named.headers['access-control-allow-origin']).toBe('https://app.two.test')
    const read = await stack.call('two.test', 'GET', '/data/auth/config', {
      headers: { origin: 'https://app.two.test' },
    })
    expect(read.headers['access-control-allow-origin']).toBe('https://app.two.test')
    expect(read.headers['access-control-allow-credentials']).toBeUndefined()

    for (const [host, origin] of [
      ['two.test', 'https://evil.test'],
      ['one.test', 'https://app.two.test'],
      ['two.test', 'null'],
    ] as const) {
      const other = await preflight(host, '/data/auth/config', origin)
      expect(other.headers['access-control-allow-origin']).toBeUndefined()
    }
  })

  test('never include those of a site for its admin routes', async () => {
    const other = await preflight('two.test', '/admin/public/config', 'https://app.two.test')
    expect(other.headers['access-control-allow-origin']).toBeUndefined()
    const own = await preflight('two.test', '/admin/public/config', stack.baseUrl('two.test'))
    expect(own.headers['access-control-allow-origin']).toBe(stack.baseUrl('two.test'))
  })

  test('get the rendered error when the database is gone', async () => {
    await using alone = await startStack({ sites: [] })
    const { name } = alone.database
    await asAdmin(async (admin) => {
      await admin`alter database ${admin(name)} allow_connections false`
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
    })
    const answer = await alone.call('late.test', 'GET', '/data/auth/config', {
      headers: { origin: 'https://app.test' },
    })
    await asAdmin((admin) => admin`alter database ${admin(name)} allow_connections true`)
    expect(answer.status).toBeGreaterThanOrEqual(500)
    expect(answer.json).toMatchObject({ ok: false, error: { code: expect.any(String) } })
    expect(answer.headers['x-request-id']).toBe(answer.json.error.requestId)
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })
})
