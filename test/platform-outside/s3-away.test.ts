import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'

import { describe, expect, test } from 'vitest'

import { systemClock } from '#base/clock.ts'
import { S3ObjectStore } from '#platform/objects/s3-object-store.ts'

const storeAt = (port: number) =>
  new S3ObjectStore(
    {
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      bucket: 'croft',
      forcePathStyle: true,
      accessKeyId: 'key',
      secretAccessKey: 'secret',
    },
    systemClock,
  )

/** Nobody listens there any more. */
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
  retryAfterSeconds: 1,
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

  test('is told from one that refuses', async () => {
    const server = createHttpServer((_request, answer) => answer.writeHead(403).end())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    await using store = storeAt((server.address() as AddressInfo).port)
    await expect(store.head('a')).rejects.not.toMatchObject({ code: 'ServiceUnavailable' })
    server.closeAllConnections()
    server.close()
  })
})
