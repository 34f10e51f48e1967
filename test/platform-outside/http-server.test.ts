import { Agent } from 'node:http'
import { type Socket, connect } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { DISCARD_LIMITS } from '#platform/http-server/unread-body.ts'
import { type Call, request, serverSentEvents } from '#test/http-client.ts'
import { describeOn } from '#test/on-runtimes.ts'
import { Script } from '#test/runtimes.ts'

const FIXTURE = new URL('fixtures/http-server.ts', import.meta.url)
const MB = 1_000_000

describeOn(['bun', 'node', 'deno'], 'the HTTP server on %s', (runtime) => {
  let script: Script
  let port: number
  beforeAll(async () => {
    script = new Script(runtime, FIXTURE, ['1'])
    port = (await script.next()).port
  })
  afterAll(() => script[Symbol.asyncDispose]())

  const call = (path: string, rest: Partial<Call> = {}) => request({ port, path, ...rest })

  test('answers with status, headers and body, and tells the length of a text', async () => {
    const answer = await call('/text')
    expect(answer).toMatchObject({
      status: 200,
      text: 'hello',
      headers: { 'x-two': 'a', 'content-length': '5' },
    })
  })

  test('takes the host of the request from its Host header', async () => {
    expect((await call('/host', { host: 'shop.test:99' })).text).toBe('shop.test:99')
  })

  const absolute = async (target: string, host: string) => {
    const { status, text } = await call(target, { headers: { host } })
    return status === 200 ? text : status
  }

  // Bun hands on the path alone: there the Host header decides, which clients send in the same form.
  test.each([
    ['http://shop.test/named', 'shop.test', 'other.test'],
    ['HTTP://shop.test:99/named?a=b', 'shop.test:99', 'other.test'],
  ])('takes the host of %s from it, whatever Host says', async (target, host, onBun) => {
    expect(await absolute(target, 'other.test')).toBe(runtime === 'bun' ? onBun : host)
    expect(await absolute(target, host)).toBe(host)
  })

  const OF_TARGET = ['http://a@shop.test/named', 'http:///named', 'http://shop.test:99999/named']
  test.runIf(runtime !== 'bun').each([...OF_TARGET, 'ftp://shop.test/named'])(
    'refuses the target %s',
    async (target) => {
      expect(await absolute(target, 'shop.test')).toBe(400)
    },
  )

  test.each([
    ['two hosts', 'host: shop.test\r\nhost: other.test\r\n'],
    ['an empty host', 'host: \r\n'],
    ['a host with a user', 'host: a@shop.test\r\n'],
    ['a host with a path', 'host: shop.test/named\r\n'],
    ['no host', ''],
  ])('refuses a request that names %s', async (_what, lines) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET /named HTTP/1.1\r\n${lines}connection: close\r\n\r\n`)
    let answer = ''
    for await (const chunk of socket) answer += String(chunk)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  })

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('decompresses a body in %s, and no bomb', async (coding, compress) => {
    const decoded = async (body: Uint8Array) => {
      const headers = { 'content-encoding': coding }
      return (await call('/decoded', { method: 'POST', body, headers })).text
    }
    expect(await decoded(compress(Buffer.from('{"payload":1}')))).toBe('{"payload":1}')
    expect(await decoded(compress(Buffer.alloc(20 * MB)))).toBe('PayloadTooLarge')
    expect(await decoded(Buffer.from('{"payload":1}'))).toBe('InvalidContentEncoding')
  })

  test('knows the peer', async () => {
    expect((await call('/peer')).text).toBe('127.0.0.1')
  })

  test.each([
    ['/204', 204],
    ['/304', 304],
    ['/redirect', 302],
  ])('answers %s without a body', async (path, status) => {
    expect(await call(path)).toMatchObject({ status, text: '' })
  })

  test('answers HEAD with the headers alone, and keeps the connection in step', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    expect(await call('/text', { method: 'HEAD', agent })).toMatchObject({ status: 200, text: '' })
    expect(await call('/text', { agent })).toMatchObject({ status: 200, text: 'hello' })
    agent.destroy()
  })

  test('keeps two cookies apart', async () => {
    expect((await call('/cookies')).headers['set-cookie']).toBe('a=1, b=2')
  })

  test.each(['/throw', '/reject'])('answers %s with a bare 500', async (path) => {
    expect(await call(path)).toMatchObject({ status: 500, text: '' })
  })

  test('reads a body, with a length or in chunks', async () => {
    expect((await call('/echo', { method: 'POST', body: 'told' })).text).toBe('told')
    const body = (async function* () {
      yield 'in '
      yield 'chunks'
    })()
    expect((await call('/echo', { method: 'POST', body })).text).toBe('in chunks')
  })

  test('streams a large upload without holding it', async () => {
    const body = (async function* () {
      for (let sent = 0; sent < 200; sent++) yield new Uint8Array(1_000_000)
    })()
    const { text } = await call('/measure', { method: 'PUT', body })
    const [bytes, memoryMb] = text.split(' ').map(Number)
    expect(bytes).toBe(200_000_000)
    expect(memoryMb).toBeLessThan(300)
  })

  test('streams a large response', async () => {
    expect((await call('/stream')).bytes).toHaveLength(2000 * 65_536)
  })

  test('keeps a silent stream of events and a slow answer open, and notices who leaves', async () => {
    const agent = new Agent({ keepAlive: true })
    const slow = call('/slow', { agent })
    const slowPost = call('/slow', { method: 'POST', body: {}, agent })
    const slowAlone = call('/slow-alone', { method: 'POST', body: {}, agent })
    const seen: string[] = []
    for await (const event of serverSentEvents({ port, path: '/events' })) {
      expect(event).toMatchObject({ event: 'tick', id: String(seen.length + 1) })
      seen.push(event.data)
      if (seen.length === 2) break
    }
    expect(seen).toEqual(['{"sent":1}', '{"sent":2}'])
    expect((await slow).text).toBe('slow')
    expect((await slowPost).text).toBe('slow')
    expect((await slowAlone).text).toBe('slow')
    await expect.poll(async () => (await call('/aborted')).text).toContain('events')
    agent.destroy()
  })

  test('notices who leaves when nothing but the signal of the request is held', async () => {
    await using own = new Script(runtime, FIXTURE, ['1'])
    const { port: there } = await own.next()
    const events = serverSentEvents({ port: there, path: '/events' })
    await events.next()
    expect((await request({ port: there, path: '/collect-garbage' })).text).toBe('collected')
    await events.return(undefined)
    const aborted = async () => (await request({ port: there, path: '/aborted' })).json
    await expect.poll(aborted).toEqual(['events'])
  })
})

describeOn(['bun', 'node', 'deno'], 'a refusal before the end of the body, on %s', (runtime) => {
  let script: Script
  let port: number
  beforeAll(async () => {
    script = new Script(runtime, FIXTURE, ['30'])
    port = (await script.next()).port
  })
  afterAll(() => script[Symbol.asyncDispose]())

  const large = new Uint8Array(60 * MB)
  const inChunks = () => {
    let sent = 0
    return new ReadableStream({
      pull: (controller) =>
        sent++ < 60 ? controller.enqueue(new Uint8Array(MB)) : controller.close(),
    })
  }

  test.each(['/refuse', '/refuse-later', '/refuse-and-serve-on'])(
    'reaches clients that are still sending to %s',
    async (path) => {
      const seen = new Set<string>()
      for (let count = 0; count < 6; count++) {
        const body = count % 2 === 0 ? large : inChunks()
        const init: RequestInit = { method: 'POST', body, duplex: 'half' }
        seen.add(await told(fetch(`http://127.0.0.1:${port}${path}`, init)))
      }
      expect([...seen]).toEqual(['413 {"error":"too large"}'])
    },
  )

  test('is whole at once, and its connection ends soon when nothing is sent any more', async () => {
    const { answer, closedMs } = await left(port, () => {})
    expect(answer).toContain(' 413 ')
    expect(answer).toContain('{"error":"too large"}')
    expect(closedMs).toBeLessThan(DISCARD_LIMITS.silenceMs + 2000)
  })

  test('ends the connection of who never stops sending', async () => {
    const endless = new Uint8Array(4 * MB)
    const { answer, sentBytes } = await left(port, (socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write(endless));
      }
      socket.on('drain', more)
      more()
    })
    expect(answer).toContain('{"error":"too large"}')
    expect(sentBytes).toBeGreaterThan(100 * MB)
  })

  test('leaves the connection to a client whose short body it skipped', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const path = '/refuse-and-serve-on'
    const answer = await request({ port, path, method: 'POST', body: 'short', agent })
    expect(answer).toMatchObject({ status: 413 })
    expect(answer.headers['connection']).not.toBe('close')
    expect((await request({ port, path: '/text', agent })).text).toBe('hello')
    agent.destroy()
  })

  test('does not keep a draining server', async () => {
    await using own = new Script(runtime, FIXTURE, ['30'])
    const { port: there } = await own.next()
    const slow = left(there, (socket) => {
      const trickle = setInterval(() => socket.write('x'), 200)
      socket.once('close', () => clearInterval(trickle))
      socket.once('data', () => own.tell('20000'))
    })
    expect((await own.next()).drainedMs).toBeLessThan(5000)
    expect((await slow).answer).toContain('{"error":"too large"}')
  })
})

/** Status and text, or the code of the failure. */
const told = (response: Promise<Response>): Promise<string> =>
  response.then(
    async (got) => `${got.status} ${await got.text()}`,
    (error: unknown) => String((error as { cause?: { code?: string } }).cause?.code ?? error),
  )

/** A client that declares more than it may, ignores the answer, and does then what `goesOn` does. */
async function left(port: number, goesOn: (socket: Socket) => void) {
  const startedAt = performance.now()
  const socket = connect(port, '127.0.0.1')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let answer = ''
  socket.setEncoding('latin1').on('error', () => {})
  socket.on('data', (text: string) => (answer += text))
  socket.write('POST /refuse HTTP/1.1\r\nhost: a\r\ncontent-length: 100000000000\r\n\r\nx')
  goesOn(socket)
  await closed
  return { answer, closedMs: performance.now() - startedAt, sentBytes: socket.bytesWritten }
}

describeOn(['bun', 'node', 'deno'], 'draining on %s', (runtime) => {
  test('under load loses no request of a client that keeps its connections', async () => {
    await using script = new Script(runtime, FIXTURE, ['30'])
    const load = new Load((await script.next()).port)
    await expect.poll(() => load.answered).toBeGreaterThan(500)
    script.tell('10000')
    const [drained] = await Promise.all([script.next(), load.done])
    expect(load.failures).toEqual([])
    expect(load.saidClose).toBeGreaterThan(0)
    expect(drained.drainedMs).toBeLessThan(9000)
  })

  test('answers what was being made, and a request on a connection that was idle', async () => {
    await using script = new Script(runtime, FIXTURE, ['30'])
    const { port } = await script.next()
    const idle = new Agent({ keepAlive: true, maxSockets: 1 })
    await request({ port, path: '/text', agent: idle })
    const held = ['/hold', '/hold-alone'].map((path) => request({ port, path }))
    await expect.poll(async () => (await request({ port, path: '/text' })).status).toBe(200)
    script.tell('20000')
    const refuses = () =>
      request({ port, path: '/text' }).then(
        () => false,
        () => true,
      )
    await expect.poll(refuses).toBe(true)
    await saysClose(port, idle)
    for (const answer of await Promise.all(held)) {
      expect(answer).toMatchObject({ text: 'held', headers: { connection: 'close' } })
    }
    await script.next()
    await expect(request({ port, path: '/text' })).rejects.toThrow('ECONNREFUSED')
  })

  test('gives up at the deadline', async () => {
    await using script = new Script(runtime, FIXTURE, ['30'])
    const { port } = await script.next()
    const events = serverSentEvents({ port, path: '/events' })
    await events.next()
    script.tell('700')
    expect((await script.next()).drainedMs).toBeLessThan(2000)
    await events.return(undefined)
  })
})

describe.each(['bun', 'node'] as const)('a silent connection on %s', (runtime) => {
  test('is closed after the idle timeout', async () => {
    await using script = new Script(runtime, FIXTURE, ['1'])
    const { port } = await script.next()
    const socket = connect(port, '127.0.0.1')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {}).resume()
    socket.write('POST /echo HTTP/1.1\r\nhost: a\r\n')
    await expect(closed).resolves.toBe(false)
  })
})

/** The request that releases `/hold` goes out on the connection that was idle when the drain began. */
async function saysClose(port: number, agent: Agent): Promise<void> {
  const answer = await request({ port, path: '/release', agent })
  expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } })
}

/** Sixteen clients that ask again as soon as they are answered, until they cannot connect. */
class Load {
  answered = 0
  saidClose = 0
  readonly failures: string[] = []
  readonly done: Promise<unknown>
  readonly #agent = new Agent({ keepAlive: true })
  readonly #port: number

  constructor(port: number) {
    this.#port = port
    this.done = Promise.all(Array.from({ length: 16 }, () => this.#client())).finally(() =>
      this.#agent.destroy(),
    )
  }

  async #client(): Promise<void> {
    for (;;) {
      try {
        const body = { call: this.answered }
        const call = { port: this.#port, path: '/echo', method: 'POST', body, agent: this.#agent }
        const { status, headers, json } = await request(call)
        if (status !== 200 || json.call !== body.call) this.failures.push(`status ${status}`)
        if (headers['connection'] === 'close') this.saidClose++
        this.answered++
      } catch (error) {
        const code = String((error as { code?: unknown }).code)
        if (code !== 'ECONNREFUSED') this.failures.push(code)
        return
      }
    }
  }
}
