import { fileURLToPath } from 'node:url'

import { afterAll, expect, test } from 'vitest'

import { DenoLane } from '#conformance/lanes/deno-lane.ts'
import { openIsolateLane } from '#conformance/lanes/open-lanes.ts'
import type { Tally } from '#conformance/tally.ts'

import { runDeno } from './run-deno.ts'

const FOLDER = fileURLToPath(new URL('../fixtures/deno', import.meta.url))
/** Long enough on a busy machine. */
const JOB_MS = 30_000

const running = new AsyncDisposableStack()
afterAll(() => running.disposeAsync())
const ours = await openIsolateLane(JOB_MS, running)

async function run(
  name: string,
  beside?: DenoLane,
): Promise<{ ours: Tally; beside: Tally | undefined }> {
  const options = { folder: FOLDER, only: [name], match: '' }
  const [result] = await runDeno(options, { ours, beside, progress: () => {} })
  if (result === undefined) throw new Error(`There is no "${name}_test.ts"`)
  return result
}

const names = (found: Tally['passed']): string[] => [...found.values()].map(({ name }) => name)

test('a file of Deno tests is run here and in Deno, and what needs permissions is not counted', async () => {
  const result = await run('mixed', new DenoLane(JOB_MS))
  const passing = ['passesAtOnce', 'passesLater', 'compares what has no string']
  const failing = ['fails at once', 'fails in a step']
  const ofDeno = 'only Deno has WebAssembly'
  expect(names(result.ours.passed)).toEqual(passing)
  expect(names(result.ours.failed)).toEqual([...failing, ofDeno])
  expect(names(result.ours.skipped)).toEqual(['needsFiles', 'is ignored'])
  expect(result.beside && names(result.beside.passed)).toEqual([
    ...passing.slice(0, 2),
    ofDeno,
    ...passing.slice(2),
  ])
  expect(result.beside && names(result.beside.failed)).toEqual(failing)
  expect(result.ours.failures(result.beside).map(({ name }) => name)).toEqual([ofDeno])
})

test('a file that cannot be bundled has failed as a whole', async () => {
  const { failed } = (await run('broken')).ours
  expect([...failed.values()]).toEqual([
    {
      file: 'broken_test.ts',
      name: '(the whole file)',
      message: expect.stringContaining('"./absent.ts"') as string,
    },
  ])
})

test('a test that never settles fails, and the next one is run', async () => {
  const result = await run('late')
  expect(names(result.ours.passed)).toEqual(['before', 'after'])
  expect(names(result.ours.failed)).toEqual(['never settles'])
})
