import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { builtSandbox } from '#test/built-sandbox.ts'
import { TestSandbox, valueOf } from '#test/test-sandbox.ts'

const UNSTOPPABLE = 'export default () => { let x = 3n; for (;;) x = x * x }'
const LEGAL = 'export default () => { for (;;); }'
const WAIT = { timeout: 20_000, interval: 5 }

describe('a site that', () => {
  let sandbox: TestSandbox
  beforeAll(async () => {
    sandbox = await TestSandbox.start({}, {}, await builtSandbox())
  })
  afterAll(() => sandbox[Symbol.asyncDispose]())

  const hasHost = (wanted: string): boolean =>
    sandbox.hosts.status().hosts.some(({ role }) => role === wanted)

  const lossesOfOthers = (): number =>
    sandbox.hosts
      .status()
      .hosts.filter(({ role }) => role !== 'quarantine')
      .reduce((sum, { restarts }) => sum + restarts, 0)

  test('brings a host down once brings down only its own from then on', async () => {
    const attacker = sandbox.program(UNSTOPPABLE)
    const { result, others } = await sandbox.beside(async () => {
      const first = await sandbox.call(attacker)
      const second = sandbox.call(attacker)
      await vi.waitUntil(() => hasHost('quarantine'), WAIT)
      return [first, await second, await sandbox.call(attacker)]
    })
    for (const outcome of result) expect(outcome).toMatchObject({ failure: { kind: 'limit' } })
    expect(others.filter(({ ok }) => !ok)).toEqual([])
    // The first time it ran where any site runs whose calls are not known.
    expect(lossesOfOthers()).toBe(1)
  })

  test('computes long legally waits for others of its kind, and delays no other', async () => {
    const attacker = sandbox.program(LEGAL, { limits: { cpuMs: 1000 } })
    await sandbox.call(attacker)
    const neighbour = sandbox.program('export default ({ payload }) => payload')
    await sandbox.call(neighbour, 0)
    let over = false
    const attacking = sandbox.call(attacker).then((outcome) => {
      over = true
      return outcome
    })
    await vi.waitUntil(() => hasHost('long'), WAIT)
    let answered = 0
    while (answered < 50 && !over) answered += Number(valueOf(await sandbox.call(neighbour, 1)))
    expect(answered).toBe(50)
    expect(await attacking).toMatchObject({ failure: { kind: 'limit', what: 'cpuMs' } })
  })
})
