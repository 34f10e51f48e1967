import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { createClient, type SqlClient } from '#platform/postgres/client.ts'

let sql: SqlClient
beforeAll(() => {
  sql = createClient({ url: inject('postgresUrl'), max: 1 })
})
afterAll(() => sql.end())

const UUID = '0b0e3f3c-6f3e-4a8e-9d7c-0d3f3f7a1c11'
const TEXTS = ['', 'NULL', '{a,b}', 'a "quoted" \\ one', ' spaced ', 'ü\n✓', ',', null]

describe('an array', () => {
  test.each([
    ['boolean', 1000, [true, false, null]],
    ['bytea', 1001, [Buffer.from([0, 92, 34, 255]), Buffer.alloc(0), null]],
    ['smallint', 1005, [1, -2]],
    ['integer', 1007, [1, -2, null]],
    ['text', 1009, TEXTS],
    ['varchar', 1015, TEXTS],
    ['bigint', 1016, ['9007199254740993', '-1', null]],
    ['timestamptz', 1185, [new Date('2026-02-03T04:05:06.789Z'), null]],
    ['uuid', 2951, [UUID, null]],
    ['text', 1009, []],
    [
      'integer',
      1007,
      [
        [1, 2],
        [3, 4],
      ],
    ],
  ])('of %s comes back as it went (type %d, %j)', async (type, oid, list) => {
    const [row] = await sql.unsafe<{ same: unknown }[]>(`select $1::${type}[] as same`, [
      sql.typed(list as never, oid as never),
    ])
    expect(row?.same).toEqual(list)
  })

  test('is known by what the statement says, where its elements do not tell', async () => {
    const [row] = await sql<{ found: boolean }[]>`select ${UUID}::uuid = any(${[UUID]}) as found`
    expect(row).toEqual({ found: true })
  })
})

/** A server in front of the database that keeps what clients send. */
async function listenIn(): Promise<AsyncDisposable & { url: string; sent: () => string }> {
  const url = new URL(inject('postgresUrl'))
  const target = { host: url.hostname, port: Number(url.port) }
  const sent: Buffer[] = []
  const open: Socket[] = []
  const server = createServer((client) => {
    const upstream = connect(target)
    open.push(client, upstream)
    client.on('data', (bytes) => sent.push(bytes))
    client.pipe(upstream).pipe(client)
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    sent: () => Buffer.concat(sent).toString('latin1'),
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    },
  }
}

describe('a new connection', () => {
  test('asks for nothing before the first statement of its user', async () => {
    await using line = await listenIn()
    const client = createClient({ url: line.url, max: 1 })
    await client`select 'mine' as text`
    await client.end({ timeout: 5 })
    expect(line.sent()).toContain("select 'mine'")
    expect(line.sent()).not.toContain('pg_type')
  })
})
