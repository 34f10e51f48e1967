import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { MemoryLease } from '#base/memory-budget.ts'
import type { EgressPolicy, EgressRequest } from '#platform/egress/egress.ts'
import { HttpEgress } from '#platform/egress/http-egress.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const BOMB = gzipSync(Buffer.alloc(20_000_000))
const ROUTES: Record<string, Handler> = {
  '/echo': (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, headers } = request
      response.setHeader('x-seen', 'yes')
      response.end(JSON.stringify({ method, headers, body: Buffer.concat(chunks).toString() }))
    })
  },
  '/gzip': (_request, response) => {
    response.setHeader('content-encoding', 'gzip').end(gzipSync('unpacked'))
  },
  '/bomb': (_request, response) => {
    response.setHeader('content-encoding', 'gzip').end(BOMB)
  },
  '/large': (_request, response) => void response.end(Buffer.alloc(2_000_000)),
  '/unannounced': (_request, response) => {
    response.write(Buffer.alloc(100_000))
    response.end(Buffer.alloc(100_000))
  },
  '/large-loop': (_request, response) =>
    void response.writeHead(302, { location: '/large-loop' }).end(Buffer.alloc(200_000)),
  '/silent': () => {},
  '/loop': (_request, response) => void response.writeHead(302, { location: '/loop' }).end(),
  '/private': (_request, response) =>
    void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  '/scheme': (_request, response) =>
    void response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/see-other': (_request, response) => void response.writeHead(303, { location: '/echo' }).end(),
  '/temporary': (_request, response) => void response.writeHead(307, { location: '/echo' }).end(),
}

let server: Server
let port: number
beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x')
    const elsewhere = searchParams.get('to')
    if (elsewhere) return void response.writeHead(302, { location: elsewhere }).end()
    const handler = ROUTES[pathname]
    return handler ? handler(request, response) : void response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  port = typeof address === 'object' && address ? address.port : 0
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** The test server stands for the whole public internet. */
const egress = new HttpEgress({
  resolve: async () => ['127.0.0.1'],
  isPublic: (address) => address === '127.0.0.1',
})

const POLICY: EgressPolicy = { allow: ['*'], maxResponseBytes: 1_000_000, timeoutMs: 10_000 }
const send = (
  path: string,
  request: Partial<EgressRequest> = {},
  { policy = POLICY, via = egress, signal = new AbortController().signal } = {},
) =>
  via.fetch(
    {
      method: 'GET',
      url: path.startsWith('http') ? path : `http://api.test:${port}${path}`,
      headers: [],
      redirect: 'follow',
      ...request,
    },
    policy,
    signal,
  )
const seen = async (answer: ReturnType<typeof send>) =>
  JSON.parse(Buffer.from((await answer).bodyBase64, 'base64').toString()) as {
    method: string
    headers: Record<string, string>
    body: string
  }

describe('egress', () => {
  test('brings a request to the host that was named, and its answer back', async () => {
    const answer = await send('/echo?a=1', {
      method: 'post',
      headers: [
        ['X-Own', 'one'],
        ['Host', 'evil.test'],
        ['Content-Length', '9999'],
        ['Transfer-Encoding', 'chunked'],
      ],
      bodyBase64: Buffer.from('hällo').toString('base64'),
    })
    expect(answer).toMatchObject({
      status: 200,
      redirected: false,
      url: expect.stringContaining('/echo?a=1'),
    })
    expect(answer.headers).toContainEqual(['x-seen', 'yes'])
    const request = await seen(Promise.resolve(answer))
    expect(request).toMatchObject({ method: 'POST', body: 'hällo' })
    expect(request.headers).toMatchObject({
      host: `api.test:${port}`,
      'x-own': 'one',
      'content-length': '6',
    })
    expect(request.headers).not.toHaveProperty('transfer-encoding')
  })

  test('unpacks, and says nothing of the packing', async () => {
    const answer = await send('/gzip')
    expect(Buffer.from(answer.bodyBase64, 'base64').toString()).toBe('unpacked')
    expect(answer.headers.map(([name]) => name)).not.toContain('content-encoding')
  })

  test.each([
    ['a large answer', '/large', 'longer than'],
    ['a decompression bomb', '/bomb', 'longer than'],
    ['a redirect loop', '/loop', 'redirects'],
    ['a redirect to a private address', '/private', 'public internet'],
    ['a redirect to another scheme', '/scheme', 'scheme'],
  ])('stops %s', async (_what, path, why) => {
    await expect(send(path)).rejects.toThrow(why)
  })

  test('stops at its time, and when the call is over', async () => {
    await expect(send('/silent', {}, { policy: { ...POLICY, timeoutMs: 50 } })).rejects.toThrow(
      '50 ms',
    )
    const call = new AbortController()
    const waiting = send('/silent', {}, { signal: call.signal })
    call.abort()
    await expect(waiting).rejects.toThrow('aborted')
  })

  test('stops at its time while a name is being resolved', async () => {
    const via = new HttpEgress({ resolve: () => new Promise(() => {}) })
    const policy = { ...POLICY, timeoutMs: 50 }
    await expect(send('/echo', {}, { via, policy })).rejects.toThrow('50 ms')
  })

  test('follows a 303 with GET and no body, a 307 with both', async () => {
    const post = {
      method: 'POST',
      headers: [['content-type', 'text/plain']],
      bodyBase64: 'eA==',
    } as const
    const other = await seen(send('/see-other', post))
    expect(other).toMatchObject({ method: 'GET', body: '' })
    expect(other.headers).not.toHaveProperty('content-type')
    expect(await seen(send('/temporary', post))).toMatchObject({ method: 'POST', body: 'x' })
  })

  test('gives credentials to no other origin', async () => {
    const headers = [
      ['Authorization', 'Bearer x'],
      ['Cookie', 'a=b'],
      ['X-Own', 'stays'],
    ] as const
    const to = (url: string) => `/x?to=${encodeURIComponent(url)}`
    const elsewhere = await seen(send(to(`http://other.test:${port}/echo`), { headers }))
    expect(elsewhere.headers).toMatchObject({ 'x-own': 'stays' })
    expect(elsewhere.headers).not.toHaveProperty('authorization')
    expect(elsewhere.headers).not.toHaveProperty('cookie')
    const same = await seen(send(to(`http://api.test:${port}/echo`), { headers }))
    expect(same.headers).toMatchObject({ authorization: 'Bearer x', cookie: 'a=b' })
  })

  test('hands a redirect over when the caller wants it, or fails', async () => {
    expect(await send('/see-other', { redirect: 'manual' })).toMatchObject({ status: 303 })
    await expect(send('/see-other', { redirect: 'error' })).rejects.toThrow('redirect')
  })

  test('checks the allow-list on every hop', async () => {
    const policy = { ...POLICY, allow: ['api.test'] }
    await expect(
      send(`/x?to=${encodeURIComponent(`http://other.test:${port}/echo`)}`, {}, { policy }),
    ).rejects.toThrow('allow-list')
    expect((await send('/echo', {}, { policy })).status).toBe(200)
  })

  test.each([
    ['a method with a line end', { method: 'GET\r\nX: y' }, 'method'],
    ['TRACE', { method: 'TRACE' }, 'method'],
    ['a header with a line end', { headers: [['x', 'a\r\nEvil: 1']] }, 'valid header'],
    ['a header name with a space', { headers: [['x y', 'a']] }, 'valid header'],
    ['no URL', { url: 'nonsense' }, 'URL'],
  ] as [string, Partial<EgressRequest>, string][])('refuses %s', async (_what, request, why) => {
    await expect(send('/echo', request)).rejects.toThrow(why)
  })
})

describe('memory for responses', () => {
  /** Gives memory, or says `late` first and then no; what was taken and given back is written down. */
  const memoryOf = (late?: () => void) => {
    const moved: number[] = []
    const memory: MemoryLease = {
      async reserve(bytes) {
        moved.push(bytes)
        late?.()
        return late === undefined
      },
      giveBack: (bytes) => void (bytes > 0 && moved.push(-bytes)),
    }
    return { moved, policy: { ...POLICY, maxResponseBytes: 3_000_000, memory } }
  }

  test.each([
    ['of known length: that length', '/large', [2_000_000]],
    ['of unknown length: all that it may have', '/unannounced', [3_000_000, -2_800_000]],
    ['that is small: nothing', '/echo', []],
  ])('is taken for a response %s', async (_what, path, moved) => {
    const watched = memoryOf()
    await send(path, {}, watched)
    expect(watched.moved).toEqual(moved)
  })

  test('is given back before a redirect is followed', async () => {
    const watched = memoryOf()
    await expect(send('/large-loop', {}, watched)).rejects.toThrow('redirects')
    const held = watched.moved.reduce((sum, bytes) => sum + bytes, 0)
    expect(watched.moved).toContain(-200_000)
    expect(held).toBe(200_000)
  })

  test('that does not come in time is refused with what to do', async () => {
    const time = new AbortController()
    const { policy } = memoryOf(() => time.abort(new DOMException('It is over', 'TimeoutError')))
    const refused = send('/large', {}, { policy, signal: time.signal })
    await expect(refused).rejects.toMatchObject({
      code: 'TooManyRequests',
      message: expect.stringContaining('await some of them'),
    })
  })
})

describe('egress from an installation', () => {
  const real = new HttpEgress()

  test.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'http://0.0.0.0/',
    'http://localhost/',
  ])('never reaches %s', async (url) => {
    await expect(send(url, {}, { via: real })).rejects.toThrow('public internet')
  })

  test('refuses a name when only one of its addresses is private', async () => {
    const via = new HttpEgress({ resolve: async () => ['1.1.1.1', '10.0.0.1'] })
    await expect(send('/echo', {}, { via })).rejects.toThrow('public internet')
  })

  test('connects to the address that it checked, whatever the name says a moment later', async () => {
    let answers = 0
    const via = new HttpEgress({
      resolve: async () => {
        answers += 1
        return [answers === 1 ? '127.0.0.1' : '127.0.0.2']
      },
      isPublic: (address) => address === '127.0.0.1',
    })
    expect((await send('/echo', {}, { via })).status).toBe(200)
    expect(answers).toBe(1)
  })
})
