import { describe, expect, test } from 'vitest'

import { checkLoadPlan, loopbackAddress, readBytes, requestBytes } from './load-plan.ts'

const tenant = {
  host: 'one.test',
  path: '/data/hello',
  bodies: ['{"payload":{"name":"Zoë"}}'],
  expect: { status: 200 },
}
const plan = {
  origin: 'http://127.0.0.1:8080',
  tenants: [tenant],
  connections: 2,
  warmupMs: 0,
  durationMs: 100,
  timeoutMs: 1000,
}

describe('a load plan', () => {
  test.each([
    ['http://127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
    ['http://127.9.8.7/', { host: '127.9.8.7', port: 80 }],
    ['http://localhost:1', { host: '127.0.0.1', port: 1 }],
    ['http://[::1]:99', { host: '::1', port: 99 }],
    ['http://0x7f.1:7', { host: '127.0.0.1', port: 7 }],
  ])('may aim at %s', (origin, address) => {
    expect(loopbackAddress(origin)).toEqual(address)
  })

  test.each([
    'http://10.0.0.1',
    'http://example.com',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://127.0.0.1@example.com',
    'http://[::ffff:10.0.0.1]',
    'http://0.0.0.0',
    'https://127.0.0.1',
    '127.0.0.1:8080',
    '',
  ])('may not aim at "%s"', (origin) => {
    expect(() => loopbackAddress(origin)).toThrow(/loopback|no http URL/)
  })

  test.each([
    ['connections', { connections: 5000 }],
    ['connections', { connections: 1.5 }],
    ['ratePerSecond', { ratePerSecond: Number.NaN }],
    ['durationMs', { durationMs: 1e9 }],
    ['warmupMs', { warmupMs: -1 }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['tenants', { tenants: [] }],
    ['no body', { tenants: [tenant, { ...tenant, bodies: [] }] }],
    ['tenants', { tenants: Array.from({ length: 1001 }, () => tenant) }],
    ['token', { tenants: [{ ...tenant, token: 'a\r\nX-Other: b' }] }],
    ['path', { tenants: [{ ...tenant, path: '/data/a b' }] }],
    ['cannot be read', { tenants: [{ ...tenant, reads: ['/a b'] }] }],
  ])('is refused for its %s', (name, change) => {
    expect(() => checkLoadPlan({ ...plan, ...change })).toThrow(name)
  })

  test('becomes requests with the length of the body in bytes', () => {
    checkLoadPlan(plan)
    expect(requestBytes({ ...tenant, token: 'abc' }, tenant.bodies[0] ?? '').toString()).toBe(
      'POST /data/hello HTTP/1.1\r\nHost: one.test\r\nContent-Type: application/json\r\n' +
        'Authorization: Bearer abc\r\nContent-Length: 27\r\n\r\n{"payload":{"name":"Zoë"}}',
    )
  })

  test('may read instead of posting', () => {
    checkLoadPlan({ ...plan, tenants: [{ ...tenant, bodies: [], reads: ['/a.css'] }] })
    expect(readBytes(tenant, '/a.css').toString()).toBe(
      'GET /a.css HTTP/1.1\r\nHost: one.test\r\nAccept: */*\r\n\r\n',
    )
  })
})
