import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { installRoot } from '#config/install-root.ts'
import type { StarvedCall, StarvedOutcome } from '#test/starved-instances.ts'

/** The process is stopped and resumed all the time, as by a scheduler with much else to do. */
const STOPPED_MS = 54
const RUNNING_MS = 6

let child: ChildProcessWithoutNullStreams
let lines: AsyncIterator<string>
let starving: Promise<void>
const over = new AbortController()
beforeAll(async () => {
  const entry = join(installRoot(), 'test/support/starved-instances.ts')
  child = spawn(process.execPath, [entry], { stdio: 'pipe' })
  lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  starving = starve()
})
afterAll(async () => {
  over.abort()
  await starving
  const ended = once(child, 'exit')
  child.stdin.end()
  await ended
})

async function starve(): Promise<void> {
  while (!over.signal.aborted) {
    child.kill('SIGSTOP')
    await delay(STOPPED_MS)
    child.kill('SIGCONT')
    await delay(RUNNING_MS)
  }
}

async function outcomeOf(call: StarvedCall): Promise<StarvedOutcome> {
  child.stdin.write(`${JSON.stringify(call)}\n`)
  const { value } = await lines.next()
  return JSON.parse(value) as StarvedOutcome
}

/** Computes without a look at any clock. */
const computing = (rounds: number): string =>
  `for (let i = 0, x = 0; i < ${rounds}; i += 1) x = (x * 31 + i) | 0`
const DONE = { kind: 'result', text: '"done"' }

describe('code on a machine that gives it a tenth of a processor', () => {
  test('that throws while it loads fails with that, each time', async () => {
    for (let at = 0; at < 25; at += 1) {
      const { text } = await outcomeOf({ code: `throw new Error('broken')`, cpuMs: 1000 })
      expect(JSON.parse(text)).toMatchObject({
        kind: 'invalidCode',
        fault: { message: 'broken', path: 'main.js', line: 1 },
      })
    }
  })

  test.each([
    ['loads', `${computing(2e7)}; export default () => 'done'`, 60],
    ['runs', `export default () => { ${computing(2e7)}; return 'done' }`, 200],
    [
      'asks its host again and again',
      `const bytes = new Uint8Array(65536)
       export default () => { for (let i = 0; i < 200; i += 1) crypto.getRandomValues(bytes); return 'done' }`,
      100,
    ],
    [
      'listens to a rejection',
      `addEventListener('unhandledrejection', (event) => { event.preventDefault(); ${computing(1e7)} })
       export default () => { Promise.reject(7); return 'done' }`,
      200,
    ],
  ])('that %s within its processor time ends well', async (_, code, cpuMs) => {
    expect(await outcomeOf({ code, cpuMs })).toMatchObject(DONE)
  })

  test('that is begun again prints its lines once', async () => {
    const code = `export default () => { console.log('begun'); ${computing(2e7)}; return 'done' }`
    expect(await outcomeOf({ code, cpuMs: 200 })).toMatchObject({ ...DONE, lines: ['begun'] })
  })

  test('that runs without end is ended by the processor time that it used', async () => {
    const code = 'export default () => { for (;;); }'
    const { text, usedMs } = await outcomeOf({ code, cpuMs: 150 })
    expect(JSON.parse(text)).toMatchObject({ kind: 'limit', what: 'cpuMs', limit: 150 })
    expect(JSON.parse(text).used).toBeGreaterThanOrEqual(150)
    expect(usedMs).toBeGreaterThanOrEqual(150)
  })
})
