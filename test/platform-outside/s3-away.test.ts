import { once } from 'node:events'
import {
  type IncomingMessage,
  type ServerResponse,
  createServer as createHttpServer,
} from 'node:http'
import { type AddressInfo, createServer } from 'node:net'

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { systemClock } from '#base/clock.ts'
import type { Logger } from '#platform/log/logger.ts'
import { S3ObjectStore } from '#platform/objects/s3-object-store.ts'
import { silentLog } from '#test/silent-log.ts'

const storeAt = (port: number, logger = silentLog) =>
  new S3ObjectStore(
    {
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      bucket: 'croft',
      forcePathStyle: true,
      accessKeyId: 'key',
      secretAccessKey: 'secret',
    },
    { clock: systemClock, logger },
  )

/** A port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const USES: readonly (readonly [string, (store: S3ObjectStore) => Promise<unknown>])[] = [
  ['put', (store) => store.put('a', Buffer.from('x'))],
  ['get', (store) => store.get('a')],
  ['head', (store) => store.head('a')],
  ['delete', (store) => store.delete('a')],
  ['list', (store) => store.list({ prefix: '', maxKeys: 10 })],
]
const AWAY = {
  code: 'ServiceUnavailable',
  message: 'The object store does not answer: try again',
  retryAfterSeconds: 2,
}

describe('an S3 that is away', () => {
  test.each(USES)('is no fault of the service: %s', async (_name, use) => {
    await using store = storeAt(await closedPort())
    await expect(use(store)).rejects.toMatchObject(AWAY)
  })

  test.each(USES)('nor is one that fails: %s', async (_name, use) => {
    const server = createHttpServer((_request, answer) => answer.writeHead(503).end())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    await using store = storeAt((server.address() as AddressInfo).port)
    await expect(use(store)).rejects.toMatchObject(AWAY)
    server.closeAllConnections()
    server.close()
  })

  test('is distinguished from one that refuses', async () => {
    const server = createHttpServer((_request, answer) => answer.writeHead(403).end())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    await using store = storeAt((server.address() as AddressInfo).port)
    await expect(store.head('a')).rejects.not.toMatchObject({ code: 'ServiceUnavailable' })
    server.closeAllConnections()
    server.close()
  })
})

describe('an S3 that hangs', () => {
  type Answering = (request: IncomingMessage, answer: ServerResponse) => void
  const answers: Answering = (_request, answer) => void answer.end('whole')
  const hangs: Answering = () => {}
  const stalls: Answering = (_request, answer) =>
    void answer.writeHead(200, { 'content-length': '1000' }).write('the beginning')
  const log = { error: vi.fn<Logger['error']>(), info: vi.fn<Logger['info']>() }
  let answering: Answering
  let store: S3ObjectStore
  let opened: AsyncDisposableStack

  beforeEach(async () => {
    vi.clearAllMocks()
    answering = hangs
    opened = new AsyncDisposableStack()
    const server = createHttpServer((request, answer) => answering(request, answer))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    opened.defer(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    store = opened.use(storeAt(port, { ...silentLog, ...log }))
  })
  afterEach(() => opened.disposeAsync())

  const textOf = async () => new Response((await store.get('a'))?.body).text()
  const took = async (work: () => Promise<unknown>) => {
    const startedMs = performance.now()
    await work()
    return performance.now() - startedMs
  }

  test('fails what waits for it within seconds and the rest at once, says so once, and is used again when it answers', async () => {
    const away = { ...AWAY, isLogged: true }
    const waiting = USES.map(([, use]) => use(store))
    const first = async () => {
      for (const each of waiting) await expect(each).rejects.toMatchObject(away)
    }
    expect(await took(first)).toBeLessThan(5000)
    const second = async () => {
      for (const [, use] of USES) await expect(use(store)).rejects.toMatchObject(away)
      await expect(store.ping()).rejects.toMatchObject(away)
    }
    expect(await took(second)).toBeLessThan(500)
    answering = answers
    await vi.waitFor(async () => expect(await textOf()).toBe('whole'), { timeout: 10_000 })
    expect(log.error.mock.calls).toEqual([
      [{ err: expect.any(Error) }, 'the object store does not answer'],
    ])
    expect(log.info.mock.calls).toEqual([
      [{ awayMs: expect.any(Number) }, 'the object store answers again'],
    ])
  })

  test('in the midst of an object ends its bytes', async () => {
    answering = stalls
    const reader = (await store.get('a'))?.body.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('the beginning')
    answering = hangs
    expect(
      await took(async () => expect(reader?.read()).rejects.toMatchObject({ code: AWAY.code })),
    ).toBeLessThan(5000)
  })

  test('on one connection alone is asked again on another', async () => {
    let asked = 0
    answering = (request, answer) => {
      if (request.method === 'HEAD') answer.end()
      else if (++asked > 1) answers(request, answer)
    }
    expect(await textOf()).toBe('whole')
    expect(asked).toBe(2)
    expect(log.error).not.toHaveBeenCalled()
  })

  test('and loses the answer to a put does not take the object for another writer’s', async () => {
    let puts = 0
    answering = (request, answer) => {
      if (request.method === 'PUT') {
        puts += 1
        request.socket.destroy()
      } else answer.writeHead(404).end()
    }
    const put = store.put('a', Buffer.from('x'), { ifNoneMatch: '*' })
    await expect(put).rejects.toMatchObject({ code: AWAY.code })
    expect(puts).toBe(1)
    await expect(store.put('a', Buffer.from('x'))).rejects.toMatchObject({ code: AWAY.code })
    expect(puts).toBe(4)
  })
})
