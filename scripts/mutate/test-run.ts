import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

const UNIT = /^(?:src|sandbox|scripts|bench|conformance)\//
const DEADLINE_MS = 15 * 60_000
const SHOWN_OUTPUT = 3000

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

export interface TestRun {
  /** `nothing ran` where no test did: a fault that keeps a file from loading shows nothing. */
  readonly outcome: 'passed' | 'failed' | 'nothing ran'
  /** The first test that failed. */
  readonly failure: string
  readonly output: string
}

/** Runs test files in a copy of the sources, one project after the other, up to the first failure if that is enough. */
export async function runTests(
  copy: string,
  files: readonly string[],
  { bail }: { readonly bail: number },
): Promise<TestRun> {
  const unit = files.filter((file) => UNIT.test(file))
  const services = files.filter((file) => !UNIT.test(file))
  let last: TestRun = { outcome: 'nothing ran', failure: '', output: '' }
  for (const [project, some] of [['unit', unit] as const, ['services', services] as const]) {
    if (some.length === 0) continue
    last = await runProject(copy, project, some, bail)
    if (last.outcome !== 'passed') return last
  }
  return last
}

async function runProject(
  copy: string,
  project: string,
  files: readonly string[],
  bail: number,
): Promise<TestRun> {
  const json = join(copy, 'mutate-report.json')
  await rm(json, { force: true })
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs')
  const options = [`--project=${project}`, `--bail=${bail}`, '--maxWorkers=1', '--no-color']
  const reporters = ['--reporter=json', '--reporter=default', `--outputFile.json=${json}`]
  const output = await outputOf(copy, [vitest, 'run', ...options, ...reporters, ...files])
  const text = await readFile(json, 'utf8').catch(() => '{"testResults":[]}')
  const { testResults } = JSON.parse(text) as Report
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const failed = tests.find(({ status }) => status === 'failed')
  const failedFile = testResults.find(({ status }) => status === 'failed')
  if (failed !== undefined) return { outcome: 'failed', failure: failed.fullName, output }
  // A hook failed: the tests were there.
  if (failedFile !== undefined && failedFile.assertionResults.length > 0) {
    return { outcome: 'failed', failure: `${failedFile.name}, before its tests`, output }
  }
  const isFine = failedFile === undefined && tests.some(({ status }) => status === 'passed')
  return { outcome: isFine ? 'passed' : 'nothing ran', failure: '', output }
}

function outputOf(copy: string, args: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const child = spawn(process.execPath, [...args], {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-SHOWN_OUTPUT)
    })
  }
  child.on('error', reject)
  child.on('close', () => resolve(output))
  return promise
}
