import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { Program } from '#platform/sandbox-host/sandbox.ts'
import { ATTACK_SCRIPTS, SOME_ATTACKS } from '#test/attack-scripts.ts'
import { builtSandbox } from '#test/built-sandbox.ts'
import { besideOpenLoop } from '#test/open-loop-victim.ts'
import { TestSandbox } from '#test/test-sandbox.ts'

const CALLS_PER_SECOND = 50
const WAIT = { timeout: 60_000, interval: 5 }

describe('beside a site that runs', () => {
  let sandbox: TestSandbox
  let victim: Program
  beforeAll(async () => {
    sandbox = await TestSandbox.start({}, {}, await builtSandbox())
    victim = sandbox.program('export default ({ payload }) => payload + 1')
    await sandbox.call(victim, 1)
    await vi.waitUntil(() => sandbox.hosts.status().hosts.every(({ ready }) => ready), WAIT)
  })
  afterAll(() => sandbox[Symbol.asyncDispose]())

  test.each(SOME_ATTACKS)('$name, no call of another one fails', async ({ code }) => {
    const attacker = sandbox.program(code, { fn: { timeoutMs: 1000 } })
    const report = await besideOpenLoop(
      () => sandbox.call(victim, 1),
      CALLS_PER_SECOND,
      async () => {
        expect(await sandbox.call(attacker)).toBeDefined()
        expect(await sandbox.call(attacker)).toBeDefined()
      },
    )
    expect(report.failures).toEqual([])
    expect(report.calls).toBeGreaterThan(0)
  })

  test('enough scripts are there to choose from', () => {
    expect(ATTACK_SCRIPTS.length).toBeGreaterThanOrEqual(150)
  })
})
