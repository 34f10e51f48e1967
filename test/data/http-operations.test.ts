import { createHash, createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { resolve } from 'node:path'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** What a function saw of a request, as JSON. */
const ECHO = `export default {
  async fetch(request, { auth, basePath, requestId }) {
    const bytes = await request.bytes()
    const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
    return Response.json({
      method: request.method, url: request.url, headers: Object.fromEntries(request.headers),
      length: bytes.length, sha256: sum.toHex?.() ?? [...sum].map((b) => b.toString(16).padStart(2, '0')).join(''),
      auth, basePath, requestId,
    })
  },
}`
/** Answers of many kinds, by the path below the operation. */
const ANSWERS = `const bytes = Uint8Array.from({ length: 256 }, (_, at) => at)
const pages = {
  created: () => new Response('made', { status: 201, headers: [
    ['location', '/things/1'], ['set-cookie', 'a=1; Path=/; HttpOnly'], ['set-cookie', 'b=2'], ['x-own', 'caf\\u00e9'],
  ] }),
  teapot: () => new Response('short and stout', { status: 418, statusText: 'Teapot' }),
  go: () => Response.redirect('https://example.org/there', 303),
  bytes: () => new Response(bytes, { headers: { 'content-type': 'image/x', 'cache-control': 'public, max-age=60' } }),
  empty: () => new Response(null, { status: 204 }),
  same: () => new Response(null, { status: 304, headers: { etag: '"v"' } }),
  large: () => new Response(new Uint8Array(1_000_000).map((_, at) => at * 7)),
  text: () => new Response('\\ufeffgr\\u00fc\\u00dfe \\ud83d\\ude00'),
  reserved: () => new Response('x', { headers: {
    connection: 'close', 'strict-transport-security': 'max-age=0', 'x-request-id': 'mine', 'access-control-allow-origin': '*',
    'transfer-encoding': 'chunked', 'content-length': '7', 'clear-site-data': '"*"', server: 'mine',
  } }),
  session: () => new Response('x', { headers: { 'set-cookie': '__Host-CROFT_session.pool=x; Secure; Path=/' } }),
  nameless: () => new Response('x', { headers: { 'set-cookie': '=croft_session=x' } }),
  domain: () => new Response('x', { headers: { 'set-cookie': 'a=1; Domain=test' } }),
  control: () => new Response('x', { headers: { 'x-own': 'a\\u0001b' } }),
  many: () => new Response('x', { headers: Array.from({ length: 201 }, (_, at) => ['x-' + at, '1']) }),
  failing: () => { throw new Error('no luck') },
  nothing: () => 'no response',
}
export default { fetch: (request) => pages[new URL(request.url).pathname.split('/').at(-1)]() }`
/** Streams of many kinds. \`left\` is what they have seen of clients that went away. */
const STREAMS = `const encoder = new TextEncoder()
const left = []
let breakIt
const endless = (name) => new ReadableStream({
  async pull(controller) {
    await new Promise((go) => setTimeout(go, 5))
    controller.enqueue(encoder.encode('tick\\n'))
  },
  cancel: () => void left.push(name),
})
const pages = {
  ticks: () => {
    let at = 0
    return new Response(new ReadableStream({
      async pull(controller) {
        await new Promise((go) => setTimeout(go, 50))
        controller.enqueue(encoder.encode('data: ' + at + '\\n\\n'))
        at += 1
        if (at === 4) controller.close()
      },
    }), { headers: { 'content-type': 'text/event-stream' } })
  },
  endless: () => new Response(endless('endless')),
  silent: (request) => {
    request.signal.addEventListener('abort', () => left.push('signal'))
    return new Response(new ReadableStream({
      start: (controller) => controller.enqueue(encoder.encode('first')),
      cancel: () => void left.push('silent'),
    }))
  },
  broken: () => new Response(new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode('first')),
    async pull() {
      await new Promise((go) => { breakIt = go })
      throw new Error('broke in the middle')
    },
  })),
  break: () => Response.json({ broken: breakIt() ?? true }),
  words: () => new Response(new ReadableStream({ start: (controller) => controller.enqueue('no bytes') })),
  back: (request) => new Response(request.body),
  left: () => Response.json({ left }),
}
export default { fetch: (request) => pages[new URL(request.url).pathname.split('/').at(-1)](request) }`

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  const other = await RuntimeSite.open(stack, 'two.test')
  await site.putGroups('staff')
  await Promise.all([
    site.publish('echo', ECHO, { http: true }),
    site.publish('answers', ANSWERS, { http: true }),
    site.publish('streams', STREAMS, { http: true }),
    site.publish('plain', 'export default ({ payload }) => payload'),
    site.publish('mute', 'export default () => 1', { http: true }),
    other.publish('echo', 'export default { fetch: () => new Response("two") }', { http: true }),
  ])
  const lambdaResourceId = await site.putFunction('own', ECHO)
  await site.putOperation('own', { lambdaResourceId, http: true })
  const auth = { mode: 'groups', groups: ['staff'] }
  await site.putOperation('staff', { lambdaResourceId, http: true, auth })
  await site.synced()
})
afterAll(() => stack[Symbol.asyncDispose]())

const get = (path: string, headers: Record<string, string> = {}) =>
  stack.call('one.test', 'GET', `/data/public/${path}`, { headers })

/** A response whose body is still on its way. */
async function opened(path: string, body?: Buffer): Promise<IncomingMessage> {
  const { promise, resolve: begun, reject } = Promise.withResolvers<IncomingMessage>()
  const { port } = stack
  const headers = { host: 'one.test', ...(body ? { 'content-length': body.byteLength } : {}) }
  const method = body ? 'POST' : 'GET'
  httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false }, begun)
    .on('error', reject)
    .end(body)
  return promise
}

async function chunksOf(response: IncomingMessage): Promise<Buffer[]> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return chunks
}

const logged = async (operation: string) =>
  (await site.admin('GET', `/logs?operation=${operation}&limit=100`)).json.items.map(
    (line: { message: string }) => line.message,
  )

describe('an operation that answers HTTP', () => {
  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'POST'])(
    'sees a %s below its path unchanged',
    async (method) => {
      const answer = await stack.call('one.test', method, '/data/public/echo/a%20b/c?x=1&x=2', {
        headers: {
          'x-own': 'one',
          cookie: 'mine=1; croft_session=s; __Host-croft_form.p=t; other=2',
          'x-forwarded-for': '203.0.113.9',
          authorization: 'Basic dXNlcjpwYXNz',
        },
      })
      expect(answer.status).toBe(200)
      const { headers, ...rest } = answer.json
      expect(rest).toMatchObject({
        method,
        url: `${stack.baseUrl('one.test')}/data/public/echo/a%20b/c?x=1&x=2`,
        basePath: '/data/public/echo',
        auth: null,
        requestId: answer.headers['x-request-id'],
      })
      expect(headers).toMatchObject({
        'x-own': 'one',
        cookie: 'mine=1; other=2',
        authorization: 'Basic dXNlcjpwYXNz',
        host: new URL(stack.baseUrl('one.test')).host,
        'x-forwarded-for': '127.0.0.1',
      })
      expect(headers).not.toHaveProperty('connection')
    },
  )

  test.each([
    ['short', 300],
    ['long', 300_000],
  ])('is given every byte of a %s body', async (_size, length) => {
    const body = randomBytes(length)
    const sha256 = createHash('sha256').update(body).digest('hex')
    const { json } = await stack.call('one.test', 'PUT', '/data/public/echo', { body })
    expect(json).toMatchObject({ length, sha256 })
  })

  test('is given every byte of a body of unknown length', async () => {
    const part = randomBytes(50_000)
    const body = (async function* () {
      for (let at = 0; at < 5; at += 1) yield part
    })()
    const sha256 = createHash('sha256')
      .update(Buffer.concat(Array.from({ length: 5 }, () => part)))
      .digest('hex')
    const { json } = await stack.call('one.test', 'POST', '/data/public/echo', { body })
    expect(json).toMatchObject({ length: 250_000, sha256 })
  })

  test('refuses a body that is declared too long, unread', async () => {
    const headers = { 'content-length': String(101 * 1024 * 1024) }
    const { status, json } = await stack.call('one.test', 'POST', '/data/public/echo', { headers })
    expect([status, json.error.code]).toEqual([413, 'PayloadTooLarge'])
  })

  test('gives status, headers and body as they are', async () => {
    const created = await opened('/data/public/answers/created')
    expect(created.statusCode).toBe(201)
    expect(created.headers).toMatchObject({
      location: '/things/1',
      'set-cookie': ['a=1; Path=/; HttpOnly', 'b=2'],
      'x-own': 'café',
      'cache-control': 'no-store',
    })
    expect(Buffer.concat(await chunksOf(created)).toString()).toBe('made')
    expect(await get('answers/teapot')).toMatchObject({ status: 418, text: 'short and stout' })
    expect(await get('answers/go')).toMatchObject({
      status: 303,
      headers: { location: 'https://example.org/there' },
    })
    expect(await get('answers/empty')).toMatchObject({ status: 204, text: '' })
    expect(await get('answers/same')).toMatchObject({ status: 304, headers: { etag: '"v"' } })
    expect((await get('answers/text')).bytes).toEqual(Buffer.from('\ufeffgrüße 😀'))
  })

  test('gives bytes unchanged, short and long', async () => {
    const { bytes, headers } = await get('answers/bytes')
    expect(bytes).toEqual(Buffer.from(Array.from({ length: 256 }, (_, at) => at)))
    expect(headers).toMatchObject({
      'content-type': 'image/x',
      'cache-control': 'public, max-age=60',
      'content-length': '256',
    })
    const large = (await get('answers/large')).bytes
    expect(
      large.equals(Buffer.from(Uint8Array.from({ length: 1_000_000 }, (_, at) => at * 7))),
    ).toBe(true)
  })

  test('answers HEAD without a body', async () => {
    const head = await stack.call('one.test', 'HEAD', '/data/public/answers/bytes')
    expect(head).toMatchObject({ status: 200, text: '', headers: { 'content-length': '256' } })
    const large = await stack.call('one.test', 'HEAD', '/data/public/answers/large')
    expect(large).toMatchObject({ status: 200, headers: { 'content-length': '1000000' } })
  })

  test('has no say in what belongs to the service', async () => {
    const { status, text, headers } = await get('answers/reserved')
    expect([status, text]).toEqual([200, 'x'])
    for (const name of [
      'strict-transport-security',
      'access-control-allow-origin',
      'transfer-encoding',
      'clear-site-data',
      'server',
    ])
      expect(headers).not.toHaveProperty(name)
    expect(headers['x-request-id']).not.toBe('mine')
    expect(headers['content-length']).toBe('1')
  })

  test.each([
    ['session', /"__Host-CROFT_session.pool" has a name of the service/],
    ['nameless', /has a name of the service/],
    ['domain', /names a Domain/],
    ['control', /header "x-own"/],
    ['many', /more than 200 headers/],
  ])('may not answer with %s, and its log says why', async (page, reason) => {
    const { status, json } = await get(`answers/${page}`)
    expect([status, json.error.code]).toEqual([502, 'InvalidOperationResult'])
    await vi.waitFor(async () =>
      expect(await logged('answers')).toContainEqual(expect.stringMatching(reason)),
    )
  })

  test('that fails before it answers gives the usual errors', async () => {
    for (const page of ['answers/failing', 'answers/nothing', 'mute']) {
      const { status, json } = await get(page)
      expect([status, json.error.code]).toEqual([500, 'OperationFailed'])
    }
    await vi.waitFor(async () =>
      expect(await logged('mute')).toContainEqual(
        expect.stringContaining('export default { fetch }'),
      ),
    )
  })

  test('can be what the documentation shows: a signed webhook and a stream', async () => {
    const page = resolve(import.meta.dirname, '../../docs/reference/functions.md')
    const text = await readFile(page, 'utf8')
    const [, code = ''] = /```ts\n(import type \{ FetchHandler \}[^]*?)```/.exec(text) ?? []
    await site.admin('PUT', '/env-vars', {
      storageBackend: 'ssmSecureString',
      variables: { HOOK_SECRET: { value: 'secret', secret: true } },
    })
    const lambdaResourceId = await site.putFunction('hooks', code, { environment: ['HOOK_SECRET'] })
    await site.putOperation('hooks', { lambdaResourceId, auth: { mode: 'public' }, http: true })
    await site.synced()
    const body = Buffer.from('{ "action": "opened",\r\n "b": "\xff" }', 'latin1')
    const signature = createHmac('sha256', 'secret').update(body).digest('hex')
    const send = (bytes: Buffer) =>
      stack.call('one.test', 'POST', '/data/public/hooks/forge', {
        body: bytes,
        headers: { 'x-hub-signature-256': `sha256=${signature}` },
      })
    expect((await send(body)).status).toBe(204)
    expect((await send(Buffer.concat([body, Buffer.from(' ')]))).status).toBe(401)
    await vi.waitFor(async () => expect(await logged('hooks')).toContain('received opened'))
    const stream = await opened('/data/public/hooks/ticks')
    const [first] = (await once(stream, 'data')) as [Buffer]
    stream.destroy()
    expect(String(first)).toBe('data: 0\n\n')
  })

  test('is of its own site', async () => {
    const two = await stack.call('two.test', 'GET', '/data/public/echo')
    expect(two.text).toBe('two')
  })
})

describe('who calls an operation that answers HTTP', () => {
  const as = (token: string | undefined, path: string, method = 'GET') =>
    stack.call('one.test', method, path, { token })

  test('is admitted by its rule', async () => {
    const ann = await stack.dataToken('one.test', { user: 'ann@one.test' })
    const staff = await stack.dataToken('one.test', { user: 'sam@one.test', groups: ['staff'] })
    const stranger = await stack.dataToken('two.test')
    const seen = await as(ann, '/data/own/x', 'DELETE')
    expect(seen.json).toMatchObject({ method: 'DELETE', basePath: '/data/own' })
    expect(seen.json.auth.username).toBe('ann@one.test')
    expect(seen.json.headers).not.toHaveProperty('authorization')
    expect((await as(staff, '/data/staff/x', 'PUT')).json.auth.groups).toEqual(['staff'])
    const refusals = await Promise.all([
      as(undefined, '/data/own/x'),
      as(stranger, '/data/own'),
      as('nonsense', '/data/own', 'PUT'),
      as(undefined, '/data/public/own'),
      as(ann, '/data/staff'),
      as(ann, '/data/staff', 'POST'),
    ])
    expect(refusals.map(({ status }) => status)).toEqual([401, 401, 401, 401, 403, 403])
  })

  test('does not show it a token of the site where none is asked for', async () => {
    const token = await stack.dataToken('one.test')
    const { json } = await as(token, '/data/public/echo')
    expect(json.auth).toBeNull()
    expect(json.headers).not.toHaveProperty('authorization')
  })

  test('finds other operations as they were', async () => {
    expect(await site.call('plain', { a: 1 })).toMatchObject({ json: { ok: true, data: { a: 1 } } })
    const wrong = await get('plain')
    expect([wrong.status, wrong.headers['allow']]).toEqual([405, 'POST'])
    expect((await get('plain/below')).status).toBe(404)
    expect((await get('nowhere/below')).status).toBe(404)
    expect((await stack.call('one.test', 'PUT', '/data/auth/config')).status).toBe(405)
  })

  test('may be a page of another origin, if the site says so', async () => {
    const origin = stack.baseUrl('one.test')
    const asked = {
      origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'x-own',
    }
    const preflight = await stack.call('one.test', 'OPTIONS', '/data/public/echo/x', {
      headers: asked,
    })
    expect(preflight).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': expect.stringContaining('PUT'),
        'access-control-allow-headers': expect.stringContaining('x-own'),
      },
    })
    const other = { ...asked, origin: 'https://evil.example' }
    const refused = await stack.call('one.test', 'OPTIONS', '/data/public/echo/x', {
      headers: other,
    })
    expect(refused.headers).not.toHaveProperty('access-control-allow-origin')
    expect(
      (await get('answers/reserved', { origin: 'https://evil.example' })).headers,
    ).not.toHaveProperty('access-control-allow-origin')
  })
})

describe('a streamed response', () => {
  test('reaches the client as it comes', async () => {
    const response = await opened('/data/public/streams/ticks')
    expect(response.headers['content-type']).toBe('text/event-stream')
    const seen = (await chunksOf(response)).map(String)
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.join('')).toBe('data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\n')
  })

  test('can be the body of the request', async () => {
    const body = randomBytes(400_000)
    const response = await opened('/data/public/streams/back', body)
    expect(Buffer.concat(await chunksOf(response)).equals(body)).toBe(true)
  })

  test.each([
    ['endless', ['endless']],
    ['silent', ['silent', 'signal']],
  ])('is cancelled when its client goes away: %s', async (name, told) => {
    const response = await opened(`/data/public/streams/${name}`)
    await new Promise((go) => response.once('data', go))
    response.destroy()
    await vi.waitFor(async () =>
      expect((await get('streams/left')).json.left).toEqual(expect.arrayContaining(told)),
    )
  })

  test('that fails is broken off, and logged', async () => {
    const response = await opened('/data/public/streams/broken')
    expect(response.statusCode).toBe(200)
    expect((await get('streams/break')).status).toBe(200)
    await expect(chunksOf(response)).rejects.toThrow(/aborted|hang up/)
    await vi.waitFor(async () =>
      expect(await logged('streams')).toContainEqual(
        expect.stringContaining('broke in the middle'),
      ),
    )
  })

  test('that fails before its first byte is an error as any other', async () => {
    const { status, json } = await get('streams/words')
    expect([status, json.error.code]).toEqual([500, 'OperationFailed'])
  })
})
