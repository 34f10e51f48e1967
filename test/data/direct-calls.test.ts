import { createHook } from 'node:async_hooks'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HOST = 'one.test'
const FUNCTION = `export default ({ payload, auth, operation }) => {
  if (payload?.refuse) throw Object.assign(new Error('no, ' + payload.refuse), { statusCode: 422, code: 'Refused' })
  if (payload?.fail) throw new Error('broken')
  if (payload?.cycle) { const it = {}; it.it = it; return it }
  return { payload, auth, operation }
}`

let stack: Stack
let site: RuntimeSite
let visitor: string
beforeAll(async () => {
  stack = await startStack({ sites: [] })
  await stack.createSite({
    domain: HOST,
    superAdmins: [`ann@${HOST}`],
    deploymentSettings: { cors: { origins: ['https://shop.example'] } },
  })
  site = await RuntimeSite.open(stack, HOST)
  const lambdaResourceId = await site.putFunction('answer', FUNCTION)
  await site.putGroups('board')
  await site.putOperation('run', { lambdaResourceId })
  await site.putOperation('open', { lambdaResourceId, auth: { mode: 'public' } })
  await site.putOperation('kept', { lambdaResourceId, cache: { ttlSeconds: 3600 } })
  await site.putOperation('board', {
    lambdaResourceId,
    auth: { mode: 'groups', groups: ['board'] },
  })
  await site.putOperation('echo', { preset: { preset: 'echo' } })
  await site.synced()
  visitor = await stack.dataToken(HOST)
  // Once to verify the token, once to learn its header.
  for (let at = 0; at < 2; at += 1) await site.callAs(visitor, 'echo')
})
afterAll(() => stack[Symbol.asyncDispose]())

interface Ask {
  readonly path: string
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

/** A request as the server would hand it over; who does not say how long its body is, is answered by the routes. */
function asked({ path, body, headers }: Ask, says: 'its length' | 'nothing'): Request {
  const length = says === 'its length' ? { 'content-length': `${Buffer.byteLength(body)}` } : {}
  const all = { host: HOST, 'content-type': 'application/json', ...length, ...headers }
  return new Request(`http://${HOST}${path}`, { method: 'POST', body, headers: all })
}

async function answer(request: Request): Promise<{ isDirect: boolean; seen: object }> {
  let isDirect = false
  const response = await stack.app.fetch(request, {
    address: '203.0.113.7',
    takeOver: () => (isDirect = true),
  })
  const {
    'x-request-id': requestId = '',
    age: _age,
    ...headers
  } = Object.fromEntries(response.headers)
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
  const text = (await response.text()).replaceAll(requestId, '<request>')
  return { isDirect, seen: { status: response.status, headers, text } }
}

const NOT_UTF8 = Uint8Array.from(Buffer.from('{"payload":"\xf0\x9f\x98"}', 'latin1'))

const page = (origin: string): Ask => ({ path: '/data/run', body: '{}', headers: { origin } })

const named = () => ({ authorization: `Bearer ${visitor}` })

describe('a call that needs no route', () => {
  test.each<[string, Ask, number]>([
    ['that runs a function', { path: '/data/run', body: '{"payload":{"name":"Zoë"}}' }, 200],
    ['with a query', { path: '/data/run?a=1', body: '{"payload":1}' }, 200],
    ['of a preset', { path: '/data/echo', body: '{"payload":[1,2]}' }, 200],
    ['that the function refuses', { path: '/data/run', body: '{"payload":{"refuse":"Ann"}}' }, 422],
    ['that fails', { path: '/data/run', body: '{"payload":{"fail":true}}' }, 500],
    ['whose answer is no JSON', { path: '/data/run', body: '{"payload":{"cycle":1}}' }, 502],
    ['of a visitor outside the group', { path: '/data/board', body: '{}' }, 403],
    ['whose body is no JSON', { path: '/data/run', body: '{"payload":' }, 400],
    ['whose body is not UTF-8', { path: '/data/run', body: NOT_UTF8 }, 400],
    ['whose body is a list', { path: '/data/echo', body: '[1]' }, 400],
    ['nested too deep', { path: '/data/run', body: `${'['.repeat(200)}${']'.repeat(200)}` }, 400],
    ['of a stranger', { path: '/data/public/open', body: '{"payload":2}' }, 200],
    ['of a stranger who may not', { path: '/data/public/run', body: '{"payload":2}' }, 401],
    ['of a page of the site', page('https://shop.example'), 200],
    ['of a page of another site', page('https://other.example'), 200],
    [
      'of a page, that fails',
      { ...page('https://shop.example'), body: '{"payload":{"fail":true}}' },
      500,
    ],
  ])('%s is answered as from there', async (_name, ask, status) => {
    const whole = { ...ask, headers: { ...named(), ...ask.headers } }
    const direct = await answer(asked(whole, 'its length'))
    const routed = await answer(asked(whole, 'nothing'))
    expect([direct.isDirect, routed.isDirect]).toEqual([true, false])
    expect(direct.seen).toMatchObject({ status })
    expect(direct.seen).toEqual(routed.seen)
  })

  test('tells a page of an allowed origin, and no other, that it may read the answer', async () => {
    const seen = async (origin: string) => {
      const { body, path, headers } = page(origin)
      const ask = { path, body, headers: { ...named(), ...headers } }
      return answer(asked(ask, 'its length'))
    }
    const allowed = 'access-control-allow-origin'
    expect(await seen('https://shop.example')).toMatchObject({
      isDirect: true,
      seen: { headers: { [allowed]: 'https://shop.example', vary: 'origin' } },
    })
    expect(await seen('https://other.example')).not.toHaveProperty(['seen', 'headers', allowed])
  })

  test('is answered from what is kept as from there', async () => {
    const ask = { path: '/data/kept', body: '{"payload":"kept"}', headers: named() }
    const miss = await answer(asked(ask, 'its length'))
    const [direct, routed] = [
      await answer(asked(ask, 'its length')),
      await answer(asked(ask, 'nothing')),
    ]
    expect(miss.seen).toMatchObject({ headers: { 'x-cache': 'MISS' } })
    expect(direct.seen).toMatchObject({ status: 200, headers: { 'x-cache': 'HIT' } })
    expect(direct.seen).toEqual(routed.seen)
  })

  test.each<[string, Ask]>([
    [
      'of an unknown token',
      { path: '/data/run', body: '{}', headers: { authorization: 'Bearer a.b.c' } },
    ],
    ['of an unknown operation', { path: '/data/none', body: '{}' }],
    ['of an unknown site', { path: '/data/run', body: '{}', headers: { host: 'none.test' } }],
    [
      'in another type',
      { path: '/data/run', body: '{}', headers: { 'content-type': 'text/plain' } },
    ],
    ['compressed', { path: '/data/run', body: '{}', headers: { 'content-encoding': 'gzip' } }],
    ['with a long body', { path: '/data/run', body: `{"payload":"${'x'.repeat(16_500)}"}` }],
  ])('%s is left to the routes', async (_name, ask) => {
    const whole = { ...ask, headers: { ...named(), ...ask.headers } }
    expect((await answer(asked(whole, 'its length'))).isDirect).toBe(false)
  })

  test('without a token is left to the routes', async () => {
    const request = asked({ path: '/data/run', body: '{}' }, 'its length')
    expect(await answer(request)).toMatchObject({ isDirect: false, seen: { status: 401 } })
  })

  test('has the rights that its visitor has by now', async () => {
    const username = 'kim@one.test'
    const token = await stack.dataToken(HOST, { user: username })
    const headers = { authorization: `Bearer ${token}` }
    const call = () => answer(asked({ path: '/data/board', body: '{}', headers }, 'its length'))
    for (let at = 0; at < 2; at += 1) await call()
    expect(await call()).toMatchObject({ isDirect: true, seen: { status: 403 } })
    expect((await site.admin('POST', '/groups/board/users', { username })).status).toBe(200)
    expect(await call()).toMatchObject({ isDirect: false, seen: { status: 200 } })
  })

  test('makes three promises', async () => {
    const ask = { path: '/data/run', body: '{"payload":1}', headers: named() }
    const counts: number[] = []
    for (let at = 0; at < 10; at += 1) {
      const request = asked(ask, 'its length')
      // The first of the three. What the runtime makes to read a body, and to make a response of a text, is its own matter.
      const bytes = request.arrayBuffer()
      await bytes
      Object.defineProperty(request, 'arrayBuffer', { value: () => bytes })
      const own = await promisesOf(async () => new Response('x'))
      const all = await promisesOf(() =>
        stack.app.observed.fetch(request, { address: '203.0.113.7' }),
      )
      counts.push(all - own + 2)
    }
    // Others may have made some in between.
    expect(Math.min(...counts)).toBe(3)
  })
})

/** How many promises are made until the response is there. */
function promisesOf(work: () => Response | Promise<Response>): Promise<number> {
  return new Promise((resolve) => {
    let count = 0
    const hook = createHook({
      init(_id, type) {
        if (type === 'PROMISE') count += 1
      },
    }).enable()
    const end = () => {
      hook.disable()
      resolve(count)
    }
    const response = work()
    if (response instanceof Promise) void response.then(end)
    else end()
  })
}
