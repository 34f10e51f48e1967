import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { installRoot } from '#config/install-root.ts'

/** Ten for each of two processors. */
const RIVALS = 20
/** At a lower priority than all else on this machine, and all equal: they compete with one another. */
const NICE = ['-n', '10'] as const
/** What decides about limits. */
const SUITES = [
  'test/sandbox/engine/loading.test.ts',
  'test/sandbox/engine/hostile.test.ts',
  'test/sandbox/engine/module-limits.test.ts',
  'test/sandbox/engine/starved-entries.test.ts',
]

const rivals: ChildProcess[] = []
beforeAll(async () => {
  for (let at = 0; at < RIVALS; at += 1)
    rivals.push(spawn('nice', [...NICE, process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' }))
  await Promise.all(rivals.map((rival) => once(rival, 'spawn')))
})
afterAll(async () => {
  const ended = rivals.map((rival) => once(rival, 'exit'))
  for (const rival of rivals) rival.kill('SIGKILL')
  await Promise.all(ended)
})

test.each(SUITES)('%s passes beside twenty processes that compute all the time', async (suite) => {
  const vitest = join(installRoot(), 'node_modules/vitest/vitest.mjs')
  const words = ['run', '--project', 'services', suite, '--maxWorkers=1', '--no-color']
  const child = spawn('nice', [...NICE, process.execPath, vitest, ...words], {
    cwd: installRoot(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  expect({ code, said: code === 0 ? '' : (out + err).slice(-20_000) }).toEqual({
    code: 0,
    said: '',
  })
})
