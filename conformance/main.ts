import { writeFile } from 'node:fs/promises'

import { TestSandbox } from '#test/test-sandbox.ts'

import { compareFunctions, functionsReport } from './comparison/compare-functions.ts'
import {
  BESIDE,
  type ConformanceOptions,
  parseConformanceOptions,
  type SuiteOptions,
  USAGE,
} from './conformance-options.ts'
import { runDeno } from './deno/run-deno.ts'
import { DenoLane } from './lanes/deno-lane.ts'
import { openIsolateLane, openNodeLane } from './lanes/open-lanes.ts'
import { failureLines, reportJson, reportTable } from './report.ts'
import { runWpt } from './wpt/run-wpt.ts'

/** How long one file may take in one runtime. */
const JOB_MS = 30_000

const SUITES = {
  wpt: {
    runs: runWpt,
    openBeside: (running: AsyncDisposableStack) => openNodeLane(JOB_MS, running),
  },
  deno: { runs: runDeno, openBeside: () => new DenoLane(JOB_MS) },
}

async function runSuite(options: SuiteOptions): Promise<void> {
  await using running = new AsyncDisposableStack()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void running.disposeAsync().finally(() => process.exit(130)))
  }
  const ours = await openIsolateLane(JOB_MS, running)
  const { runs, openBeside } = SUITES[options.suite]
  const beside = options.isBeside ? openBeside(running) : undefined
  const results = await runs(options, { ours, beside, progress })
  if (options.listsFailures) for (const line of failureLines(results)) console.log(line)
  console.log(reportTable(results, options.isBeside ? BESIDE[options.suite] : ''))
  if (options.jsonPath !== undefined) await writeFile(options.jsonPath, reportJson(results))
}

async function runFunctions(match: string): Promise<void> {
  await using sandbox = await TestSandbox.start()
  const results = await compareFunctions(sandbox, match)
  console.log(functionsReport(results))
  if (results.some(({ isSame, reason }) => !isSame && reason === undefined)) process.exitCode = 1
}

/** On standard error, where a person looks: standard output is the table. */
function progress(words: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${words}`)
}

function optionsOf(args: readonly string[]): ConformanceOptions | undefined {
  try {
    return parseConformanceOptions(args)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
    process.exitCode = 2
    return undefined
  }
}

const args = process.argv.slice(2)
if (args.includes('--help')) console.log(USAGE)
else {
  const options = optionsOf(args)
  if (options?.suite === 'functions') await runFunctions(options.match)
  else if (options !== undefined) await runSuite(options)
}
