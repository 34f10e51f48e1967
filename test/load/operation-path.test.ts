import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { LoadPlan, Tenant } from '#bench/load/load-plan.ts'
import { type LoadReport, runLoad } from '#bench/load/load-run.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const CODE = `let calls = 0
export default ({ payload, site, auth }) => ({ site: site.siteDomain, n: payload.n, sub: auth.sub, calls: ++calls })`
const HOSTS = ['one.test', 'two.test']
const AUTHENTICATED = { auth: { mode: 'authenticated' } }

let stack: Stack
let tenants: readonly Tenant[]

beforeAll(async () => {
  stack = await startStack()
  tenants = await Promise.all(HOSTS.map(publishedTenant))
})
afterAll(() => stack[Symbol.asyncDispose]())

async function publishedTenant(host: string): Promise<Tenant> {
  const site = await RuntimeSite.open(stack, host)
  await site.publish('work', CODE, AUTHENTICATED)
  await site.publish('kept', CODE, { ...AUTHENTICATED, cache: { ttlSeconds: 60 } })
  return {
    host,
    path: '/data/work',
    token: await stack.dataToken(host),
    bodies: ['{"payload":{"n":1}}', '{"payload":{"n":2}}'],
    expect: { status: 200, includes: `{"ok":true,"data":{"site":"${host}"` },
  }
}

const load = (change: Partial<LoadPlan> = {}) =>
  runLoad({
    origin: `http://127.0.0.1:${stack.port}`,
    tenants,
    connections: 16,
    warmupMs: 0,
    durationMs: 1000,
    timeoutMs: 20_000,
    ...change,
  })

/** The first fault beside the counts says more than the counts alone. */
const faults = ({ total, firstFault }: LoadReport) => ({ errors: total.errors, firstFault })
const NONE = { errors: {}, firstFault: undefined }

describe('the operation path under load', () => {
  test('answers every call of two sites with that site, in a closed loop', async () => {
    const report = await load()
    expect(faults(report)).toEqual(NONE)
    for (const { succeeded } of report.tenants) expect(succeeded).toBeGreaterThan(0)
  })

  test('answers all that an open loop asks for', async () => {
    const report = await load({ ratePerSecond: 200 })
    expect(faults(report)).toEqual(NONE)
    expect(report.total.succeeded).toBe(200)
  })

  test('runs a cached operation once for each visitor and payload', async () => {
    const kept = tenants.map((tenant) => ({ ...tenant, path: '/data/kept' }))
    const report = await load({ tenants: kept })
    expect(faults(report)).toEqual(NONE)
    for (const { host, path, token, bodies } of kept) {
      const answer = await stack.call(host, 'POST', path, { token, body: { payload: { n: 1 } } })
      expect(answer.headers['x-cache']).toBe('HIT')
      expect(answer.json.data.calls).toBeLessThanOrEqual(bodies.length)
    }
  })

  test('refuses every call that brings the token of the other site', async () => {
    const tokens = tenants.map(({ token }) => token ?? '').toReversed()
    const swapped = tenants.map((tenant, at) => ({
      ...tenant,
      token: tokens[at] ?? '',
      expect: { status: 401, includes: '"code":"Unauthorized"' },
    }))
    const report = await load({ tenants: swapped, durationMs: 300 })
    expect(faults(report)).toEqual(NONE)
  })
})
