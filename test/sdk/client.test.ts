import { describe, expect, test } from 'vitest'

import { type ClientOptions, createClient, paginate } from '#sdk/client.ts'

import { type Prepared, RecordingService } from './recording-service.ts'

const BUSY = { error: { code: 'OperationOverloaded', message: 'Busy', requestId: 'r1' } }
const busy = (retryAfter: string): Prepared => ({
  status: 503,
  headers: { 'retry-after': retryAfter },
  body: BUSY,
})
const ALIASES = '/admin/api/aliases'
const EMPTY = { body: { items: [], nextToken: null } }

const clientOf = (service: RecordingService, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: service.origin, token: 'secret', ...options })

describe('an operation', () => {
  test('is called with its payload and token, and resolves with its data', async () => {
    await using service = await RecordingService.start({ body: { ok: true, data: [1] } })
    const answer = await clientOf(service).data('a b', { x: 1 }, { idempotencyKey: 'k1' })
    expect(answer).toEqual([1])
    expect(service.requests).toMatchObject([
      {
        method: 'POST',
        url: '/data/a%20b',
        headers: {
          authorization: 'Bearer secret',
          'idempotency-key': 'k1',
          'content-type': 'application/json',
        },
        body: '{"payload":{"x":1}}',
      },
    ])
  })

  test('that is public never sees the token', async () => {
    await using service = await RecordingService.start({ body: { ok: true, data: null } })
    expect(await clientOf(service).publicData('hello')).toBeNull()
    expect(service.requests[0]?.url).toBe('/data/public/hello')
    expect(service.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  test('takes its token from a function, asked each time, or from the call', async () => {
    await using service = await RecordingService.start({ body: { ok: true, data: 0 } })
    let asked = 0
    const client = clientOf(service, { token: async () => `t${++asked}` })
    await client.data('x')
    await client.data('x')
    await client.data('x', undefined, { token: 'other' })
    expect(service.requests.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer t1',
      'Bearer t2',
      'Bearer other',
    ])
  })
})

describe('a route of the admin API', () => {
  test('gets its parameters and query encoded', async () => {
    await using service = await RecordingService.start(EMPTY)
    const { admin } = clientOf(service)
    await admin.delete('/admin/api/aliases/{address}', { params: { address: 'a/../b?c@d.test' } })
    await admin.get(ALIASES, { query: { limit: 5, nextToken: undefined } })
    await admin.get(ALIASES, { query: { nextToken: 'a&b=c+d' } })
    expect(service.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'DELETE /admin/api/aliases/a%2F..%2Fb%3Fc%40d.test',
      'GET /admin/api/aliases?limit=5',
      'GET /admin/api/aliases?nextToken=a%26b%3Dc%2Bd',
    ])
  })

  test.each(['', '.', '..'])(
    'refuses the parameter "%s", which names another path',
    async (name) => {
      await using service = await RecordingService.start(EMPTY)
      const sent = clientOf(service).admin.delete('/admin/data/groups/{groupName}', {
        params: { groupName: name },
      })
      await expect(sent).rejects.toMatchObject({ code: 'InvalidInput', status: 0 })
      expect(service.requests).toEqual([])
    },
  )

  test('resolves with undefined for no content, and with the response for what is not JSON', async () => {
    await using service = await RecordingService.start(
      { status: 204 },
      { headers: { 'content-type': 'text/event-stream' }, body: 'data: 1\n\n' },
    )
    const { admin } = clientOf(service)
    expect(await admin.delete('/admin/api/profile/sessions')).toBeUndefined()
    const stream = await admin.get('/admin/api/messages/stream')
    expect(stream instanceof Response && (await stream.text())).toBe('data: 1\n\n')
  })
})

describe('a failure', () => {
  test('tells what the service says', async () => {
    const error = {
      code: 'ValidationError',
      message: 'owners: is missing',
      requestId: 'req_1',
      details: [{ field: 'owners', message: 'is missing' }],
    }
    await using service = await RecordingService.start({ status: 400, body: { error } })
    await expect(clientOf(service).data('x')).rejects.toMatchObject({
      ...error,
      name: 'CroftError',
      status: 400,
      retryAfter: undefined,
    })
  })

  test.each([
    [{ status: 502, body: '<h1>Bad gateway</h1>' }, 502],
    [{ status: 500, body: 'null' }, 500],
    [{ status: 500, body: '{"error":"broken"}' }, 500],
    [{ body: '{"ok":true' }, 200],
    [{ body: '[]' }, 200],
    [{ headers: { 'content-type': 'text/html' }, body: '<p>' }, 200],
  ])(
    'of something else than the service, %j, is an unexpected response',
    async (answer, status) => {
      await using service = await RecordingService.start(answer)
      await expect(clientOf(service).data('x')).rejects.toMatchObject({
        code: 'UnexpectedResponse',
        status,
      })
    },
  )

  test('to reach the service is a network error', async () => {
    const service = await RecordingService.start(EMPTY)
    await service[Symbol.asyncDispose]()
    await expect(clientOf(service).data('x')).rejects.toMatchObject({
      code: 'NetworkError',
      message: expect.stringMatching(/^The service cannot be reached at http:\/\/[^/]+$/),
      status: 0,
      cause: expect.any(Error),
    })
  })
})

describe('the token', () => {
  test.each([301, 302, 307, 308])('follows no redirect (%i)', async (status) => {
    await using other = await RecordingService.start(EMPTY)
    await using service = await RecordingService.start({
      status,
      headers: { location: `${other.origin}/x` },
    })
    await expect(clientOf(service).admin.get(ALIASES)).rejects.toMatchObject({
      code: 'UnexpectedRedirect',
      status,
    })
    expect(other.requests).toEqual([])
  })

  test.each(['//evil.test/', '/\\evil.test/', 'https://evil.test/', '@evil.test/'])(
    'goes to no other origin by the path "%s"',
    async (path) => {
      const seen: string[] = []
      const { admin } = createClient({
        baseUrl: 'https://shop.test',
        token: 'secret',
        fetch: async (url) => {
          seen.push(url)
          return new Response()
        },
      })
      await expect(admin.get(path as typeof ALIASES)).rejects.toMatchObject({
        code: 'InvalidInput',
      })
      expect(seen).toEqual([])
    },
  )

  test.each(['ftp://shop.test', 'https://user:secret@shop.test', 'shop.test'])(
    'is not sent for the base "%s"',
    async (baseUrl) => {
      const sent = createClient({ baseUrl, token: 'secret' }).data('x')
      await expect(sent).rejects.toMatchObject({ code: 'InvalidInput' })
    },
  )
})

describe('a call that came too early', () => {
  test('is repeated twice when it can be', async () => {
    await using service = await RecordingService.start(busy('0'), busy('0'), EMPTY)
    expect(await clientOf(service).admin.get(ALIASES)).toEqual(EMPTY.body)
    expect(service.requests).toHaveLength(3)
    await using stubborn = await RecordingService.start(busy('0'))
    await expect(clientOf(stubborn).admin.get(ALIASES)).rejects.toMatchObject({
      code: 'OperationOverloaded',
      status: 503,
      requestId: 'r1',
      retryAfter: 0,
    })
    expect(stubborn.requests).toHaveLength(3)
  })

  test('that may have had its effect is not repeated, but with a key it is, under the same one', async () => {
    await using service = await RecordingService.start(busy('0'), {
      body: { ok: true, data: 1 },
    })
    await expect(clientOf(service).data('x')).rejects.toMatchObject({ status: 503 })
    expect(service.requests).toHaveLength(1)
    await using patient = await RecordingService.start(busy('0'), {
      body: { ok: true, data: 1 },
    })
    await clientOf(patient).data('x', 1, { idempotencyKey: 'k' })
    expect(patient.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['k', 'k'])
  })

  test.each([
    ['says nothing of when', { status: 429, body: BUSY }],
    ['asks for too long', busy('31')],
    ['cannot be understood', busy('soon')],
    ['has failed otherwise', { status: 500, headers: { 'retry-after': '0' }, body: BUSY }],
  ])('is not repeated where the answer %s', async (_what, answer) => {
    await using service = await RecordingService.start(answer)
    await expect(clientOf(service).admin.get(ALIASES)).rejects.toMatchObject({
      code: 'OperationOverloaded',
    })
    expect(service.requests).toHaveLength(1)
  })

  test('understands a date', async () => {
    const past = new Date(0).toUTCString()
    await using service = await RecordingService.start(busy(past), EMPTY)
    await clientOf(service).admin.get(ALIASES)
    expect(service.requests).toHaveLength(2)
  })

  test('ends its wait when it is aborted', async () => {
    await using service = await RecordingService.start(busy('30'))
    const aborting = new AbortController()
    const client = clientOf(service, {
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        // The wait begins once the body has been read.
        setImmediate(() => setImmediate(() => aborting.abort(new Error('enough'))))
        return response
      },
    })
    const sent = client.admin.get(ALIASES, { signal: aborting.signal })
    await expect(sent).rejects.toThrow('enough')
    expect(service.requests).toHaveLength(1)
  })

  test('is not sent at all when it was aborted before', async () => {
    await using service = await RecordingService.start(EMPTY)
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(clientOf(service).data('x', 1, { signal })).rejects.toThrow('enough')
    expect(service.requests).toEqual([])
  })
})

test('a list is walked page by page, and no further than asked', async () => {
  const page = (address: string, nextToken: string | null): Prepared => ({
    body: { items: [{ address, targets: [] }], nextToken },
  })
  await using service = await RecordingService.start(
    page('a', 't1'),
    page('b', 't2'),
    page('c', null),
  )
  const { admin } = clientOf(service)
  const aliases = () => paginate((nextToken) => admin.get(ALIASES, { query: { nextToken } }))
  for await (const { address } of aliases()) if (address === 'b') break
  expect(service.requests.map(({ url }) => url)).toEqual([ALIASES, `${ALIASES}?nextToken=t1`])
  expect(await Array.fromAsync(aliases(), ({ address }) => address)).toEqual(['c'])
})
