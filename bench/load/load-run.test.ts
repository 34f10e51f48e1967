import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

import { describe, expect, test } from 'vitest'

import type { LoadPlan, Tenant } from './load-plan.ts'
import { runLoad } from './load-run.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

const PLAN = { connections: 4, warmupMs: 0, durationMs: 200, timeoutMs: 2000 }
const tenant: Tenant = {
  host: 'one.test',
  path: '/data/hello',
  bodies: ['{"payload":1}'],
  expect: { status: 200, includes: '"ok":true' },
}

async function serve(answer: Answer): Promise<AsyncDisposable & { origin: string }> {
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const ok: Answer = (_request, response) => void response.end('{"ok":true}')

async function load(answer: Answer, change: Partial<LoadPlan> = {}) {
  await using server = await serve(answer)
  return await runLoad({ ...PLAN, origin: server.origin, tenants: [tenant], ...change })
}

describe('a load run', () => {
  test('sends every tenant its own host, token and bodies, in turn', async () => {
    const seen = new Set<string>()
    const report = await load(
      async (request, response) => {
        const body = await text(request)
        seen.add(`${request.headers.host} ${request.headers.authorization} ${request.url} ${body}`)
        response.end(`{"ok":true,"host":"${request.headers.host}"}`)
      },
      {
        tenants: [
          { ...tenant, token: 'T1', bodies: ['{"n":1}', '{"n":2}'] },
          {
            ...tenant,
            host: 'two.test',
            token: 'T2',
            expect: { status: 200, includes: 'two.test' },
          },
        ],
      },
    )
    expect([...seen].toSorted()).toEqual([
      'one.test Bearer T1 /data/hello {"n":1}',
      'one.test Bearer T1 /data/hello {"n":2}',
      'two.test Bearer T2 /data/hello {"payload":1}',
    ])
    expect(report.total.errors).toEqual({})
    const [one, two] = report.tenants.map(({ succeeded }) => succeeded)
    expect(Math.abs((one ?? 0) - (two ?? 0))).toBeLessThanOrEqual(1)
    expect((one ?? 0) + (two ?? 0)).toBe(report.total.succeeded)
  })

  test.each([
    ['every answer in a closed loop', 0, 0],
    ['none that was asked for while warming up', 100, 1],
  ])('counts %s', async (_name, warmupMs, leastLeftOut) => {
    let answered = 0
    const report = await load(
      (request, response) => {
        answered += 1
        return ok(request, response)
      },
      { warmupMs },
    )
    const { succeeded, errors } = report.total
    expect(errors).toEqual({})
    expect(succeeded).toBeGreaterThan(0)
    expect(Math.min(1, answered - succeeded)).toBe(leastLeftOut)
    expect(report.succeededPerSecond).toBeCloseTo(succeeded / report.seconds, 6)
  })

  test('sends in an open loop exactly what the rate asks for', async () => {
    const { total } = await load(ok, { ratePerSecond: 250 })
    expect(total).toMatchObject({ succeeded: 50, errors: {} })
  })

  test('counts from the intended time while a stalled server holds every connection', async () => {
    let first = true
    const { total } = await load(
      async (_request, response) => {
        if (first) {
          first = false
          const until = performance.now() + 150
          while (performance.now() < until);
        }
        response.end('{"ok":true}')
      },
      { ratePerSecond: 500, connections: 1 },
    )
    expect(total.succeeded).toBe(100)
    expect(total.latencyMs.p50).toBeGreaterThan(20)
    expect(total.latencyMs.max).toBeGreaterThanOrEqual(150)
  })

  test.each<[string, string, Answer, Partial<LoadPlan>]>([
    ['another status', 'Status503', (_, response) => void response.writeHead(503).end(), {}],
    ['another text', 'WrongBody', (_, response) => void response.end('{"ok":false}'), {}],
    [
      'another length',
      'WrongBodyLength',
      (_, response) => void response.end('{"ok":true }'),
      { tenants: [{ ...tenant, expect: { status: 200, bodyBytes: 11 } }] },
    ],
    ['a closed connection', 'ConnectionClosed', ({ socket }) => void socket.end(), {}],
    ['a reset connection', 'ECONNRESET', ({ socket }) => void socket.resetAndDestroy(), {}],
    ['silence', 'Timeout', () => {}, { timeoutMs: 50 }],
    [
      'another protocol',
      'MalformedResponse',
      ({ socket }) => void socket.write('SSH-2.0-OpenSSH\r\n\r\n'),
      {},
    ],
  ])('counts %s by its kind', async (_name, kind, answer, change) => {
    const { total, firstFault } = await load(answer, change)
    expect(Object.keys(total.errors)).toEqual([kind])
    expect(firstFault?.includes(kind)).toBe(/Status|Wrong/.test(kind) ? true : undefined)
  })

  test('goes on after a server that closes each connection', async () => {
    const report = await load((_request, response) => {
      response.setHeader('connection', 'close')
      response.end('{"ok":true}')
    })
    expect(report.total.errors).toEqual({})
    expect(report.total.succeeded).toBeGreaterThan(4)
  })

  test('says that nothing answers', async () => {
    const server = await serve(ok)
    await server[Symbol.asyncDispose]()
    const plan = { ...PLAN, timeoutMs: 50, ratePerSecond: 10, tenants: [tenant] }
    const report = await runLoad({ ...plan, origin: server.origin })
    expect(report.total).toMatchObject({ succeeded: 0, errors: { NeverSent: 2 } })
    expect(report.total.errors['ECONNREFUSED']).toBeGreaterThan(0)
  })
})
