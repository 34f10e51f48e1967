import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const EVENTS = `let left = 0
export default { fetch(request) {
  if (request.url.endsWith('left')) return Response.json(left)
  request.signal.addEventListener('abort', () => { left += 1 })
  const start = (controller) => controller.enqueue(new TextEncoder().encode(': hello\\n\\n'))
  return new Response(new ReadableStream({ start }), { headers: { 'content-type': 'text/event-stream' } })
} }`
const LARGE = 'export default { fetch: () => new Response(new Uint8Array(16e6)) }'
const UPLOAD = `export default { fetch: async (request) =>
  request.url.endsWith('early') ? new Response('enough', { status: 413 }) : new Response(String((await request.bytes()).length)) }`
const NEVER = 'export default { fetch: () => new Promise(() => {}) }'
/** Some clients share an address. */
const PER_ADDRESS = 6

let stack: Stack
let site: RuntimeSite
let other: RuntimeSite
const sockets = new Set<Socket>()
beforeAll(async () => {
  stack = await startStack({
    config: { streams: { perReplica: 10, perAddress: PER_ADDRESS }, trustedProxies: ['127.0.0.1'] },
  })
  site = await RuntimeSite.open(stack, 'one.test')
  await limit({ concurrency: 2, openStreams: 8 })
  await site.publish('events', EVENTS, { http: true })
  await site.publish('large', LARGE, { http: true })
  await site.publish('upload', UPLOAD, { http: true })
  await site.publish('never', NEVER, { http: true })
  other = await RuntimeSite.open(stack, 'two.test')
  await other.publish('short', 'export default ({ payload }) => payload')
  await site.publish('short', 'export default ({ payload }) => payload')
})
afterAll(() => stack[Symbol.asyncDispose]())
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  await calls({ running: 0, suspended: 0, queued: 0, openStreams: 0 })
})

async function limit(limits: object): Promise<void> {
  const { siteId } = await stack.context.sites.find('one.test')
  const body = { deploymentSettings: { limits } }
  expect((await stack.portal('PATCH', `/sites/${siteId}`, body)).status).toBe(200)
}

const calls = (expected: object) =>
  vi.waitFor(
    async () =>
      expect((await site.admin('GET', '/usage')).json.runtime.calls).toMatchObject(expected),
    { timeout: 20_000, interval: 50 },
  )

/** Sends that and reads nothing. */
async function client(text: string): Promise<Socket> {
  const socket = connect(stack.port, '127.0.0.1').on('error', () => {})
  sockets.add(socket)
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

const asked = (path: string, address = 1, more = '') =>
  client(
    `${more === '' ? 'GET' : 'POST'} /data/public/${path} HTTP/1.1\r\nhost: one.test\r\nx-forwarded-for: 192.0.2.${address}\r\n${more}\r\n`,
  )

/** The first of the response. */
async function answered(socket: Socket): Promise<string> {
  const [data] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return String(data)
}

const short = async () => (await site.call('short', 'x')).json

describe('clients that wait', () => {
  test.each([
    ['event streams', () => asked('events'), 6],
    ['readers that do not read', () => asked('large'), 6],
    [
      'uploads that stop',
      () => asked('upload', 1, 'content-length: 1000000\r\n').then((one) => (one.write('x'), one)),
      6,
    ],
    ['calls that are never answered', () => asked('never'), 0],
  ])('hold no places: %s', async (_what, ask, openStreams) => {
    await Promise.all(Array.from({ length: 6 }, ask))
    await calls({ running: 0, suspended: 6, openStreams })
    expect(await short()).toEqual({ ok: true, data: 'x' })
    for (const socket of sockets) socket.destroy()
    await calls({ running: 0, suspended: 0, openStreams: 0 })
  })

  test('leave together: each call ends, and is aborted', async () => {
    const streams = await Promise.all(Array.from({ length: 6 }, () => asked('events')))
    await Promise.all(streams.map(answered))
    const left = async () =>
      Number((await stack.call('one.test', 'GET', '/data/public/events/left')).text)
    const before = await left()
    for (const socket of streams) socket.destroy()
    await calls({ suspended: 0, openStreams: 0 })
    // A permit may come back before the function runs on.
    await expect.poll(left).toBe(before + 6)
  })

  test('get an early response before they have sent all', async () => {
    const socket = await asked('upload/early', 1, 'content-length: 1000000\r\n')
    socket.write('x')
    expect(await answered(socket)).toMatch(/^HTTP\/1.1 413 /)
    await calls({ suspended: 0, openStreams: 0 })
  })

  test('keep their streams while the site publishes', async () => {
    const stream = await asked('events')
    await answered(stream)
    await site.publish('other', 'export default () => 1')
    expect((await site.call('other')).json.data).toBe(1)
    await calls({ suspended: 1, openStreams: 1 })
    expect(stream.destroyed).toBe(false)
  })

  test('end with their connection where they have sent another request behind', async () => {
    const head = 'HTTP/1.1\r\nhost: one.test\r\n\r\n'
    const both = await client(`GET /data/public/events ${head}GET /data/public/events ${head}`)
    expect(await answered(both)).toMatch(/^HTTP\/1.1 200 /)
    both.destroy()
    await calls({ suspended: 0, openStreams: 0 })
  })
})

describe('open streams', () => {
  const refused = async (socket: Socket) => {
    const text = await answered(socket)
    const [head = '', body = ''] = text.split('\r\n\r\n')
    const { error } = JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1))
    return { status: head.slice(9, 12), retryAfter: /retry-after: (\d+)/i.exec(head)?.[1], error }
  }

  test.each([
    ['events', '', 'their response'],
    ['upload', 'content-length: 1000000\r\n', 'their request'],
  ])('of one address are bounded: %s', async (path, more) => {
    const streams = await Promise.all(Array.from({ length: PER_ADDRESS }, () => asked('events')))
    await Promise.all(streams.map(answered))
    expect(await refused(await asked(path, 1, more))).toMatchObject({
      status: '429',
      retryAfter: '5',
      error: {
        code: 'TooManyRequests',
        limit: { name: 'openStreamsPerAddress', value: PER_ADDRESS },
      },
    })
    expect(await answered(await asked('events', 2))).toMatch(/^HTTP\/1.1 200 /)
    expect(await short()).toEqual({ ok: true, data: 'x' })
    streams[0]?.destroy()
    await calls({ openStreams: PER_ADDRESS })
    expect(await answered(await asked('events'))).toMatch(/^HTTP\/1.1 200 /)
  })

  test('of a site are bounded, and those of another site and its short calls are not refused', async () => {
    const streams = await Promise.all(Array.from({ length: 8 }, (_, at) => asked('events', at)))
    await Promise.all(streams.map(answered))
    expect(await refused(await asked('events', 99))).toMatchObject({
      status: '503',
      retryAfter: '5',
      error: { code: 'OperationOverloaded', limit: { name: 'openStreams', value: 8 } },
    })
    expect(await short()).toEqual({ ok: true, data: 'x' })
  })
})

describe('streams that cost much', () => {
  test.each([
    ['bytes one by one', 'new Uint8Array(1)'],
    ['parts of 16 KB', 'new Uint8Array(16384)'],
  ])('leave the calls of their site and of others their turns: %s', async (what, part) => {
    const name = what.includes('one') ? 'bytes' : 'parts'
    const pull = `(controller) => controller.enqueue(${part})`
    await site.publish(
      name,
      `export default { fetch: () => new Response(new ReadableStream({ pull: ${pull} })) }`,
      {
        http: true,
      },
    )
    const streams = await Promise.all(Array.from({ length: 6 }, () => asked(name)))
    await Promise.all(streams.map(answered))
    let received = 0
    for (const stream of streams)
      stream.on('data', ({ length }: Buffer) => (received += length)).resume()
    for (let call = 0; call < 50; call += 1) {
      expect(await short()).toEqual({ ok: true, data: 'x' })
      expect((await other.call('short', 'x')).json).toEqual({ ok: true, data: 'x' })
    }
    expect(received).toBeGreaterThan(0)
  })

  test('are broken off with their host, and new ones begin', async () => {
    const streams = await Promise.all(Array.from({ length: 6 }, () => asked('events')))
    await Promise.all(streams.map(answered))
    await calls({ suspended: 6, openStreams: 6 })
    const ended = streams.map((stream) => once(stream.resume(), 'close'))
    for (const { pid } of stack.context.sandbox.status().hosts) process.kill(pid, 'SIGKILL')
    await Promise.all(ended)
    await calls({ running: 0, suspended: 0, openStreams: 0 })
    await vi.waitFor(async () => expect((await site.call('short', 'x')).status).toBe(200), 20_000)
    expect(await answered(await asked('events'))).toMatch(/^HTTP\/1.1 200 /)
  })

  test('end with the call of a client that reads slowly, not before', async () => {
    await site.publish(
      'counted',
      `export default { fetch: () => new Response(new Uint8Array(400_000)) }`,
      { http: true },
    )
    const slow = await asked('counted')
    let received = 0
    for await (const data of slow) {
      received += (data as Buffer).length
      expect(await short()).toEqual({ ok: true, data: 'x' })
      if (received > 400_000) break
    }
    expect(received).toBeGreaterThan(400_000)
    slow.destroy()
  })
})
