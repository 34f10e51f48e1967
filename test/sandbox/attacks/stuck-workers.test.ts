import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { builtSandbox } from '#test/built-sandbox.ts'
import { TestSandbox } from '#test/test-sandbox.ts'

/** How long a script may keep a worker. */
const CPU_MS = 3000
const CONNECTIONS = 3

/** What a site does that was never seen before, with all its connections at once. */
const ATTACKS = {
  'at once': 'export default () => { for (;;); }',
  'in a timer': 'export default () => new Promise(() => setTimeout(() => { for (;;); }, 50))',
  'when a host call is answered':
    "export default async (_input, ctx) => { await ctx.operation('x', {}).catch(() => {}); for (;;); }",
}

describe('while a new site keeps a worker busy', () => {
  let sandbox: TestSandbox
  beforeAll(async () => {
    sandbox = await TestSandbox.start({}, { cpuMs: CPU_MS }, await builtSandbox())
  })
  afterAll(() => sandbox[Symbol.asyncDispose]())

  test.each(Object.entries(ATTACKS))(
    '%s, no call of another one waits for it',
    async (_where, code) => {
      const victim = sandbox.program('export default ({ payload }) => payload + 1')
      for (let calls = 0; calls < 10; calls += 1) await sandbox.call(victim, 1)
      const attacker = sandbox.program(code)
      let isOver = false
      const attack = Promise.all(
        Array.from({ length: CONNECTIONS }, () => sandbox.call(attacker)),
      ).finally(() => {
        isOver = true
      })
      let longestMs = 0
      let calls = 0
      while (!isOver) {
        const startedMs = performance.now()
        expect(await sandbox.call(victim, 1)).toMatchObject({ ok: true, result: '2' })
        longestMs = Math.max(longestMs, performance.now() - startedMs)
        calls += 1
      }
      expect((await attack).every(({ ok }) => !ok)).toBe(true)
      expect(calls).toBeGreaterThan(10)
      // Half of what waiting for the script would take.
      expect(longestMs).toBeLessThan(CPU_MS / 2)
    },
  )
})
