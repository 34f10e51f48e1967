import { Value } from '@sinclair/typebox/value'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CpuProfile } from '#runtime/profiles/cpu-profile.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

type Node = CpuProfile['nodes'][number]

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

describe('the usage of a site', () => {
  test('counts calls, errors, kept answers and time per operation and hour', async () => {
    await site.publish(
      'counted',
      'export default ({ payload }) => { if (payload === "no") throw new Error("no"); return payload }',
      { cache: { ttlSeconds: 60 } },
    )
    for (const payload of ['a', 'a', 'a', 'b', 'no']) await site.call('counted', payload)
    await site.admin('POST', '/compute/execute', { code: 'module.exports = () => 1' })
    const { json } = await site.admin('GET', '/usage')
    const rows: { operation: string; hour: string }[] = json.items
    expect(rows.find(({ operation }) => operation === 'counted')).toEqual({
      hour: expect.stringMatching(/:00:00\.000Z$/),
      operation: 'counted',
      calls: 5,
      errors: 1,
      cacheHits: 2,
      cpuMs: expect.any(Number),
      wallMs: expect.any(Number),
    })
    expect(rows.find(({ operation }) => operation === '$compute')).toMatchObject({ calls: 1 })
    expect(json.totals).toMatchObject({ calls: 6, errors: 1, cacheHits: 2 })
    expect(json.totals.wallMs).toBeGreaterThan(0)
    expect(json.limits).toMatchObject({ concurrency: expect.any(Number), resultBytes: 6291456 })
    expect(json.runtime).toEqual({
      loadedRevision: expect.any(Number),
      sandboxReady: true,
      calls: { running: 0, suspended: 0, queued: 0, openStreams: 0 },
    })
  })

  test('adds up what replicas count', async () => {
    await site.publish('shared', 'export default () => 1')
    await using beside = await startStack({ beside: stack })
    const there = await RuntimeSite.open(beside, 'one.test')
    await Promise.all([
      ...Array.from({ length: 5 }, () => site.call('shared')),
      ...Array.from({ length: 7 }, () => there.call('shared')),
    ])
    await there.admin('GET', '/usage')
    const { json } = await site.admin('GET', '/usage?operation=shared')
    expect(json.totals.calls).toBe(12)
  })

  test('is not grown by names that do not exist', async () => {
    await site.call('guess1')
    await site.call('guess2')
    const { text } = await site.admin('GET', '/usage')
    expect(text).not.toContain('guess')
  })

  test('of another site is not shown', async () => {
    const two = await RuntimeSite.open(stack, 'two.test')
    expect((await two.admin('GET', '/usage')).json).toMatchObject({
      items: [],
      totals: { calls: 0 },
    })
  })

  test.each([
    ['no time', 'from=monday', 'from'],
    ['an end before its start', 'from=2026-01-02&to=2026-01-01', 'from'],
    ['more than 31 days', 'from=2026-01-01&to=2026-03-01', 'from'],
  ])('is refused with %s', async (_what, query, field) => {
    expect(await site.admin('GET', `/usage?${query}`)).toMatchObject({
      status: 400,
      json: { error: { details: [{ field }] } },
    })
  })
})

describe('the profile of an operation', () => {
  const BUSY = `enum Step { one = 1 }
export default async ({ payload }) => {
  let sum = 0
  for (let i = 0; i < 2e7; i += Step.one) sum += i % payload
  return sum
}`

  test('is what DevTools opens, is in the audit trail, and ends what its calls end by', async () => {
    await site.publish('busy', BUSY)
    const { status, json } = await site.admin('POST', '/operations/busy/profile', {
      payload: 7,
      calls: 2,
    })
    expect(status).toBe(200)
    expect(Value.Check(CpuProfile, json)).toBe(true)
    expect(json.samples.length).toBeGreaterThan(5)
    const urls = new Set<string>(json.nodes.map((node: Node) => node.callFrame.url))
    expect([...urls].toSorted()).toEqual(['', 'index.ts'])
    expect(json.nodes).toContainEqual(
      expect.objectContaining({
        callFrame: expect.objectContaining({ url: 'index.ts', lineNumber: 1 }),
      }),
    )
    const recorded = 'POST /admin/data/operations/:operation/profile operation.profiled'
    expect(stack.app.recorded.has(recorded)).toBe(true)
    const audit = await stack.portal('GET', '/sites/one.test/audit?event=operation.profiled')
    expect(audit.json.items).toMatchObject([{ detail: { operation: 'busy' } }])
    await site.publish('fails', 'export default () => { throw new Error("no") }')
    expect(await site.admin('POST', '/operations/fails/profile', {})).toMatchObject({
      status: 422,
      json: { error: { code: 'ExecutionFailed', message: 'no', line: 1 } },
    })
    expect((await site.admin('POST', '/operations/nope/profile', {})).status).toBe(404)
    expect((await site.admin('POST', '/operations/busy/profile', { calls: 1001 })).status).toBe(400)
  })

  test('is made one at a time', async () => {
    await site.publish('slow', 'export default () => new Promise((end) => setTimeout(end, 500))')
    const answers = await Promise.all(
      [1, 2].map(() => site.admin('POST', '/operations/slow/profile', {})),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]))
  })
})
