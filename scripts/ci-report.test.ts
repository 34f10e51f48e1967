import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const REPORT = join(ROOT, '.ci/report.cjs')
const SECOND_LOOK = join(ROOT, '.ci/second-look.cjs')
const FILE = 'test/a.test.ts'

let folder: string
const listPath = (): string => join(folder, '.ci/unsteady')
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-ci-'))
  await mkdir(join(folder, '.ci'))
  await writeFile(listPath(), '# why\n')
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
}

/** What a program of the run prints, run in the folder. */
async function ran(program: string, ...args: string[]) {
  const { promise, resolve: done } = Promise.withResolvers<{ code: number; lines: string[] }>()
  execFile(process.execPath, [program, ...args], { cwd: folder }, (error, stdout) =>
    done({
      code: error === null ? 0 : Number(error.code),
      lines: stdout.split('\n').filter((line) => line !== ''),
    }),
  )
  return promise
}

/** A run as `.ci/run` goes: a file that failed is looked at again when the list allows it. */
async function reported({ first, again, brokenSteps = 0 }: Run) {
  const write = (name: string, results: object[]) =>
    writeFile(join(folder, `${name}.json`), JSON.stringify({ testResults: results }))
  await write('check', [outcome('passed', 'src/b.test.ts')])
  await write('test', [outcome(first)])
  const { lines } = await ran(SECOND_LOOK, join(folder, 'test.json'), '6')
  const isLookedAt = again !== undefined && lines.includes(FILE)
  await write('again', isLookedAt ? [outcome(again)] : [])
  return ran(REPORT, folder, String(brokenSteps), '0')
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

  test('lists a file that needed a second look, and goes on', async () => {
    const { code, lines } = await reported({ first: 'failed', again: 'passed' })
    expect(code).toBe(0)
    expect(lines).toEqual([
      expect.stringMatching(/^UNSTEADY: .*commit this line/),
      expect.stringMatching(/^test\/a\.test\.ts \d{4}-\d\d-\d\d holds$/),
      '4 passed, 0 failed',
    ])
    expect(await readFile(listPath(), 'utf8')).toBe(`# why\n${lines[1]}\n`)
  })

  test('fails with one that was listed by a run before, until it is taken out', async () => {
    expect(await reported({ first: 'failed', again: 'passed' })).toMatchObject({ code: 0 })
    expect(await reported({ first: 'failed', again: 'passed' })).toEqual({
      code: 1,
      lines: [`UNSTEADY AGAIN: ${FILE} is listed in .ci/unsteady: mend it`, '3 passed, 1 failed'],
    })
    expect(await reported({ first: 'passed' })).toEqual({
      code: 0,
      lines: [`STEADY THIS TIME: ${FILE}`, '4 passed, 0 failed'],
    })
    await writeFile(listPath(), '# why\n')
    expect(await reported({ first: 'failed', again: 'passed' })).toMatchObject({ code: 0 })
  })

  test('fails without the list', async () => {
    await rm(listPath())
    expect(await reported({ first: 'passed' })).toEqual({ code: 1, lines: [] })
  })
})

describe('a second look', () => {
  const asked = async (...names: string[]) => {
    const testResults = names.map((name) => outcome('failed', name))
    await writeFile(join(folder, 'test.json'), JSON.stringify({ testResults }))
    return (await ran(SECOND_LOOK, join(folder, 'test.json'), '2')).lines
  }

  test('is for files that had none before, where few failed', async () => {
    await writeFile(listPath(), `# why\n${FILE} 2026-05-01 holds\n`)
    expect(await asked(FILE, 'test/b.test.ts')).toEqual(['test/b.test.ts'])
    expect(await asked('test/b.test.ts', 'test/c.test.ts', 'test/d.test.ts')).toEqual([])
  })
})

test('each line of the list names a test file, a day and what failed', async () => {
  const list = await readFile(join(ROOT, '.ci/unsteady'), 'utf8')
  const lines = list.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  for (const line of lines) {
    expect(line).toMatch(/^test\/\S+\.test\.ts \d{4}-\d\d-\d\d \S/)
    expect(existsSync(join(ROOT, line.split(' ')[0] ?? '')), line).toBe(true)
  }
  expect(new Set(lines.map((line) => line.split(' ')[0])).size).toBe(lines.length)
})
