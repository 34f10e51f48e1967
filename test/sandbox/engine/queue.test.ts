import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { CallOutcome } from '#platform/sandbox-host/sandbox.ts'
import { TestSandbox, valueOf } from '#test/test-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await TestSandbox.start()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const PARKED = 'export default () => new Promise((go) => setTimeout(go, 100))'

const whats = (outcomes: readonly CallOutcome[]): string[] =>
  outcomes.map((outcome) => {
    if (outcome.ok) return 'ok'
    return outcome.failure.kind === 'limit' ? outcome.failure.what : outcome.failure.kind
  })

describe('the queue of a site', () => {
  test('lets no more calls in at once than the site may have, and refuses what is over its length', async () => {
    const program = sandbox.program(
      `let now = 0, most = 0
       export default async () => {
         now += 1; most = Math.max(most, now); await new Promise((go) => setTimeout(go, 30)); now -= 1; return most
       }`,
      { limits: { concurrency: 3, suspendedCalls: 0, queueLength: 5 } },
    )
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => sandbox.call(program)))
    const refused = outcomes.filter((outcome) => !outcome.ok)
    for (const outcome of refused) {
      expect(outcome).toMatchObject({
        failure: { kind: 'limit', what: 'queueLength', limit: 5, used: 5 },
        cpuUs: 0,
      })
    }
    // Three may run and five may wait, whether they come in one turn or not.
    expect(refused.length).toBe(12 - 3 - 5)
    const most = outcomes.filter((outcome) => outcome.ok).map(valueOf)
    expect(Math.max(...most.map(Number))).toBeLessThanOrEqual(3)
  })

  test('of length 0 runs what finds a place, and refuses the rest at once', async () => {
    const program = sandbox.program(PARKED, {
      limits: { concurrency: 2, suspendedCalls: 0, queueLength: 0 },
    })
    const call = (): Promise<CallOutcome> => sandbox.call(program)
    expect(whats(await Promise.all([call(), call(), call()]))).toEqual(['ok', 'ok', 'queueLength'])
    expect(whats([await call(), await call()])).toEqual(['ok', 'ok'])
  })

  test('gives up a call that has waited too long, without running it', async () => {
    const program = sandbox.program(PARKED, {
      limits: { concurrency: 1, suspendedCalls: 0, queueMs: 150 },
    })
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => sandbox.call(program)))
    expect(whats(outcomes).toSorted()).toContain('queueMs')
    expect(outcomes.find((outcome) => !outcome.ok)).toMatchObject({
      failure: { what: 'queueMs', limit: 150, used: expect.any(Number) },
    })
    expect(whats(outcomes).filter((what) => what === 'ok').length).toBeLessThanOrEqual(3)
  })

  test('begins no call whose visitor left while it waited, and ends none that has asked for something', async () => {
    const gate = Promise.withResolvers<string>()
    sandbox.events.answer = () => gate.promise
    const program = sandbox.program(
      `export default async ({ payload }) => {
         console.log(payload)
         if (payload === 'first') await fetch('https://x.test/').catch(() => {})
         return payload
       }`,
      { limits: { concurrency: 1, suspendedCalls: 0 } },
    )
    const leaving = new AbortController()
    const asked: string[] = []
    const call = (payload: string, { signal } = new AbortController()) =>
      sandbox.hosts.call(
        {
          site: { siteId: program.siteId, domain: program.siteDomain },
          operation: 'op',
          requestId: payload,
          authority: null,
          depth: 0,
          visitorSignal: () => {
            asked.push(payload)
            return signal
          },
          body: JSON.stringify({ payload }),
        },
        program,
        'main',
      )
    const first = call('first', leaving)
    const left = call('left', leaving)
    const stays = call('stays')
    leaving.abort()
    // Its client is asked for once it has waited for a moment.
    await vi.waitUntil(() => asked.includes('first'))
    gate.resolve('null')
    expect(await left).toMatchObject({ failure: { kind: 'interrupted' } })
    expect(valueOf(await first)).toBe('first')
    expect(valueOf(await stays)).toBe('stays')
    expect(sandbox.linesOf(program).map(({ message }) => message)).toEqual(['first', 'stays'])
    expect(asked.toSorted()).toEqual(['first', 'left', 'stays'])
  })

  test('that is full or slow is no matter to another site', async () => {
    const program = sandbox.program(PARKED, {
      limits: { concurrency: 1, suspendedCalls: 0, queueLength: 3, queueMs: 200 },
    })
    const { others } = await sandbox.beside(() =>
      Promise.all(Array.from({ length: 20 }, () => sandbox.call(program))),
    )
    expect(others.filter((other) => !other.ok)).toEqual([])
  })

  test('that spins on every host lets the others through between its turns', async () => {
    const spinners = Array.from({ length: 3 }, () =>
      sandbox.program(
        'export default () => { const end = Date.now() + 1e9; let i = 0; while (i < 4e7) i += 1; return i }',
        {
          limits: { cpuMs: 2000 },
        },
      ),
    )
    let spinning = true
    let turns = 0
    const load = spinners.map(async (program) => {
      for (; spinning; turns += 1) await sandbox.call(program)
    })
    const quick = sandbox.program('export default () => 1')
    for (let warm = 0; warm < 20; warm += 1) await sandbox.call(quick)
    const turnsBefore = turns
    for (let call = 0; call < 100; call += 1) {
      expect(await sandbox.call(quick)).toMatchObject({ ok: true })
    }
    // Calls that had to wait for turns would see almost as many end as they are.
    expect(turns - turnsBefore).toBeLessThan(50)
    spinning = false
    await Promise.all(load)
  })
})
