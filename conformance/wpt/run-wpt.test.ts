import { fileURLToPath } from 'node:url'

import { afterAll, describe, expect, test } from 'vitest'

import type { Lanes } from '#conformance/lanes/lane.ts'
import { openIsolateLane, openNodeLane } from '#conformance/lanes/open-lanes.ts'
import type { GroupResult } from '#conformance/report.ts'

import { runWpt } from './run-wpt.ts'

const FOLDER = fileURLToPath(new URL('../fixtures/wpt', import.meta.url))
/** Long enough on a busy machine; only what hangs takes a whole one. */
const JOB_MS = 30_000
const SHORT_MS = 3000
/** Loading may compute for 3 s, and a busy machine takes longer for it. */
const SPIN_MS = 4 * SHORT_MS

const running = new AsyncDisposableStack()
afterAll(() => running.disposeAsync())
const ours = await openIsolateLane(JOB_MS, running)
const beside = openNodeLane(JOB_MS, running)

async function run(match: string, lanes: Partial<Lanes>): Promise<GroupResult> {
  const options = { folder: FOLDER, only: ['url'], match }
  const [result] = await runWpt(options, { ours, beside: undefined, progress: () => {}, ...lanes })
  if (result === undefined) throw new Error(`No file has "${match}" in its path`)
  return result
}

const passes = ({ passed }: GroupResult['ours']): string[] =>
  [...passed.values()].map(({ name }) => name)
const failures = ({ failed }: GroupResult['ours']): (readonly [string, string])[] =>
  [...failed.values()].map(({ name, message }) => [name, message])

describe('a run of Web Platform Tests', () => {
  test('counts what passes, in our isolate and in Node', async () => {
    const result = await run('passes', { beside })
    const all = ['at once', 'after a timer', 'with a file of the folder']
    expect(passes(result.ours).toSorted()).toEqual(all.toSorted())
    expect(result.beside && passes(result.beside).toSorted()).toEqual(all.toSorted())
    expect(failures(result.ours)).toEqual([])
  })

  test('counts what fails, with the reason', async () => {
    const result = await run('fails', { beside })
    expect(passes(result.ours)).toEqual(['passes'])
    expect(failures(result.ours)).toEqual([
      ['at once', 'expected 2 but got 1'],
      ['without a file of the folder', expect.stringContaining('resources/absent.json')],
    ])
    expect(result.beside && failures(result.beside).map(([name]) => name)).toEqual([
      'at once',
      'without a file of the folder',
    ])
  })

  test.each([
    ['waits', /^stuck: Nothing is left/],
    ['throws', /^RangeError: outside of a test/],
    ['incomplete', /"common\/absent.js", which is missing/],
  ])('counts a file that %s as failed and goes on', async (match, message) => {
    const result = await run(match, {})
    expect(failures(result.ours)).toContainEqual([
      '(the whole file)',
      expect.stringMatching(message),
    ])
    expect(passes((await run('variants', {})).ours)).toEqual(['is the first'])
  })

  test('ends what spins, and the next file finds a new process', async () => {
    await using short = new AsyncDisposableStack()
    const lanes = {
      ours: await openIsolateLane(SPIN_MS, short),
      beside: openNodeLane(SHORT_MS, short),
    }
    const result = await run('spins', lanes)
    const whole = '(the whole file)'
    expect(passes(result.ours)).toEqual(['before'])
    // On a busy machine it ends before it has used its processor time.
    const stopped = expect.stringMatching(/^crashed: Stopped by the limit (cpuMs|starved)$/)
    expect(failures(result.ours)).toEqual([[whole, stopped]])
    expect(result.beside && failures(result.beside)).toEqual([
      [whole, `timeout: No end within ${SHORT_MS} ms`],
    ])
    const after = await run('passes', { beside: lanes.beside })
    expect(after.beside?.passed.size).toBe(3)
  })

  test('runs each variant', async () => {
    const { passed, failed } = (await run('variants', {})).ours
    expect([...passed.values()].map(({ file }) => file)).toEqual(['url/variants.any.js?1'])
    expect([...failed.values()].map(({ file }) => file)).toEqual(['url/variants.any.js?2'])
  })

  test('says what share of the passes beside it has', async () => {
    const result = await run('beside', { beside })
    expect(result.beside?.passed.size).toBe(2)
    expect(result.beside && result.ours.sharedWith(result.beside)).toBe(1)
    expect(result.ours.failures(result.beside).map(({ name }) => name)).toEqual([
      'passes in Node alone',
    ])
  })
})
