import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const post = (path: string, body?: unknown, token: string | undefined = stack.operatorKey) =>
  stack.call('one.test', 'POST', `/portal/api/sites/${path}`, {
    ...(token !== undefined && { token }),
    ...(body !== undefined && { body }),
  })
const mint = (body: unknown, site = 'one.test') => post(`${site}/tokens`, body)

describe('minting a token', () => {
  test('gives an admin’s access token for an hour by default', async () => {
    const before = Date.now()
    const answer = await mint({ user: 'ann@one.test' })
    expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
    expect(Object.keys(answer.json)).toEqual(['token', 'expiresAt'])
    const claims = decodeJwt(answer.json.token)
    expect(claims).toMatchObject({ token_use: 'access', username: 'ann@one.test' })
    expect(answer.json.expiresAt).toBe(new Date((claims.exp ?? 0) * 1000).toISOString())
    expect(Date.parse(answer.json.expiresAt) - before).toBeGreaterThan(3_598_000)
    expect(Date.parse(answer.json.expiresAt) - before).toBeLessThan(3_602_000)
  })

  test('finds the site by its id too', async () => {
    const { siteId } = await stack.context.sites.find('two.test')
    expect((await mint({ user: 'ann@two.test' }, siteId)).status).toBe(200)
  })

  test('creates a visitor once, and puts the groups into the token', async () => {
    const body = { user: 'Vic@Example.org', pool: 'data', groups: ['editors', 'staff'] }
    const [first, second] = [await mint(body), await mint({ ...body, user: 'vic@example.org' })]
    expect(first.status).toBe(200)
    const claims = decodeJwt(first.json.token)
    expect(claims).toMatchObject({
      username: 'vic@example.org',
      'cognito:groups': ['editors', 'staff'],
    })
    expect(decodeJwt(second.json.token).sub).toBe(claims.sub)
  })

  test.each([
    ['an unknown admin', 'one.test', { user: 'nobody@one.test' }, 404, 'UserNotFound'],
    ['an admin of another site', 'one.test', { user: 'ann@two.test' }, 404, 'UserNotFound'],
    ['an unknown site', 'nowhere.test', { user: 'ann@one.test' }, 404, 'SiteNotFound'],
    ['an unknown site id', 'site_aaaaaaaaaaaa', { user: 'ann@one.test' }, 404, 'SiteNotFound'],
    ['no user', 'one.test', {}, 400, 'ValidationError'],
    ['a user without @', 'one.test', { user: 'ann' }, 400, 'ValidationError'],
    ['a user too long', 'one.test', { user: `${'a'.repeat(254)}@x` }, 400, 'ValidationError'],
    ['another pool', 'one.test', { user: 'ann@one.test', pool: 'x' }, 400, 'ValidationError'],
    ['another use', 'one.test', { user: 'ann@one.test', use: 'x' }, 400, 'ValidationError'],
    [
      'an admin’s groups',
      'one.test',
      { user: 'ann@one.test', groups: ['x'] },
      400,
      'ValidationError',
    ],
    [
      'a blank in a group',
      'one.test',
      { user: 'a@b', pool: 'data', groups: ['a b'] },
      400,
      'ValidationError',
    ],
    [
      'too many groups',
      'one.test',
      { user: 'a@b', pool: 'data', groups: Array.from({ length: 26 }, String) },
      400,
      'ValidationError',
    ],
  ] as const)('is refused for %s', async (_what, site, body, status, code) => {
    expect(await mint(body, site)).toMatchObject({ status, json: { error: { code } } })
  })

  test('names the field of a body that it does not know', async () => {
    const { status, json } = await mint({ user: 'ann@one.test', ttl: 9 })
    expect(status).toBe(400)
    expect(JSON.stringify(json)).toContain('ttl')
  })
})

describe('rotating keys', () => {
  test('renews both pools, or the one that is named', async () => {
    const { json: config } = await stack.call('two.test', 'GET', '/admin/public/config')
    const { json: discovery } = await stack.call('two.test', 'GET', '/data/auth/config')
    const ids = { admin: config.auth.userPoolId, data: discovery.data.userPoolId }

    const both = await post('two.test/keys/rotate')
    expect(both.status).toBe(200)
    expect(both.json.rotated.map((key: { userPoolId: string }) => key.userPoolId)).toEqual([
      ids.admin,
      ids.data,
    ])
    const one = await post('two.test/keys/rotate', { pool: 'data' })
    expect(one.json.rotated).toEqual([{ userPoolId: ids.data, kid: expect.any(String) }])
    const { json } = await mint({ user: 'vic@x.org', pool: 'data' }, 'two.test')
    expect(decodeProtectedHeader(json.token).kid).toBe(one.json.rotated[0].kid)
  })

  test.each([
    ['nowhere.test', {}, 404, 'SiteNotFound'],
    ['one.test', { pool: 'x' }, 400, 'ValidationError'],
    ['one.test', { pools: 'data' }, 400, 'ValidationError'],
  ])('of %s with %j is refused', async (site, body, status, code) => {
    expect(await post(`${site}/keys/rotate`, body)).toMatchObject({
      status,
      json: { error: { code } },
    })
  })
})

describe('a broken body', () => {
  test('is not taken for one that was left out', async () => {
    const answer = await stack.call('localhost', 'POST', '/portal/api/sites/one.test/keys/rotate', {
      token: stack.operatorKey,
      body: '{"pool": "data"',
      headers: { 'content-type': 'application/json' },
    })
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'InvalidJson' } } })
  })
})

describe('minting and rotating', () => {
  test.each(['one.test/tokens', 'one.test/keys/rotate'])(
    '(%s) take the operator key and nothing else, before they read the body',
    async (path) => {
      const admin = await stack.adminToken('one.test', 'super-admin')
      for (const token of ['', 'x', admin, `${stack.operatorKey}x`]) {
        expect(await post(path, { wrong: true }, token)).toMatchObject({
          status: 401,
          json: { error: { code: 'Unauthorized' } },
        })
      }
    },
  )
})
