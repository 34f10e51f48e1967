import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const REPORT = resolve(import.meta.dirname, '..', '.ci/report.cjs')
const FILE = 'test/a.test.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-ci-'))
  await mkdir(join(folder, '.ci'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** What vitest reports of one file. */
const outcome = (status: 'passed' | 'failed', name = FILE) => ({
  name: join(folder, name),
  status,
  assertionResults: [
    { status: 'passed', fullName: 'works' },
    { status, fullName: 'holds' },
  ],
})

interface Run {
  readonly first: 'passed' | 'failed'
  readonly again?: 'passed' | 'failed'
  readonly brokenSteps?: number
  /** Kept from run to run. */
  readonly state?: string
}

/** The exit code and the lines of a run's report. */
async function reported({ first, again, brokenSteps = 0, state = '' }: Run) {
  const write = (name: string, results: object[]) =>
    writeFile(join(folder, `${name}.json`), JSON.stringify({ testResults: results }))
  await write('check', [outcome('passed', 'src/b.test.ts')])
  await write('test', [outcome(first)])
  await write('again', again === undefined ? [] : [outcome(again)])
  const { promise, resolve: done } = Promise.withResolvers<{ code: number; lines: string[] }>()
  const args = [REPORT, folder, String(brokenSteps), '0', state]
  execFile(process.execPath, args, { cwd: folder }, (error, stdout) =>
    done({ code: error === null ? 0 : Number(error.code), lines: stdout.trimEnd().split('\n') }),
  )
  return promise
}

describe('a run in CI', () => {
  test('that went well says how many passed', async () => {
    expect(await reported({ first: 'passed' })).toEqual({ code: 0, lines: ['4 passed, 0 failed'] })
  })

  test.each([
    ['fails twice', { first: 'failed', again: 'failed' }, '3 passed, 1 failed'],
    ['fails and is not asked again', { first: 'failed' }, '3 passed, 1 failed'],
    ['passes while a step broke', { first: 'passed', brokenSteps: 2 }, '4 passed, 2 failed'],
  ] as const)('fails with a file that %s', async (_what, run, last) => {
    expect(await reported(run)).toEqual({ code: 1, lines: [last] })
  })

  test('names a file that needed a second look, and goes on', async () => {
    const { code, lines } = await reported({ first: 'failed', again: 'passed' })
    expect(code).toBe(0)
    expect(lines).toEqual([
      expect.stringContaining(`UNSTEADY: failed, then passed alone: ${FILE}`),
      '  holds',
      '4 passed, 0 failed',
    ])
  })

  test('fails with one that is written down, until it is taken out', async () => {
    await writeFile(join(folder, '.ci/unsteady'), `# why\n${FILE} 1 May: waits too short\n`)
    const { code, lines } = await reported({ first: 'failed', again: 'passed' })
    expect([code, lines.at(-1)]).toEqual([1, '4 passed, 1 failed'])
    expect(lines[0]).toContain(`UNSTEADY AGAIN: ${FILE}`)
    const steady = await reported({ first: 'passed' })
    expect(steady).toEqual({
      code: 0,
      lines: [`STEADY THIS TIME: ${FILE}`, '4 passed, 0 failed'],
    })
  })

  test('fails with one of the run before, where CI keeps a folder, and only of that', async () => {
    const state = join(folder, 'state')
    const unsteady: Run = { first: 'failed', again: 'passed', state }
    expect((await reported(unsteady)).code).toBe(0)
    expect(await readFile(join(folder, 'state/unsteady'), 'utf8')).toBe(`${FILE}\n`)
    expect((await reported(unsteady)).code).toBe(1)
    expect((await reported({ first: 'passed', state })).code).toBe(0)
    expect((await reported(unsteady)).code).toBe(0)
  })
})
