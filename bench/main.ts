import { readFile, writeFile } from 'node:fs/promises'

import { installPackages } from '#scripts/extra-packages.ts'
import { performancePage } from '#scripts/performance-page/page.ts'

import { type BenchOptions, USAGE, parseBenchOptions } from './bench-options.ts'
import { type ColdCalls, measureColdCalls } from './croft/cold-calls.ts'
import type { CroftProcess } from './croft/croft-process.ts'
import { machineLine, versionsLine } from './machine.ts'
import { Measurements } from './measurements.ts'
import { resultsFile } from './results-file.ts'
import { resultsText } from './results-table.ts'
import { takeSample } from './sample.ts'
import { startSubjects } from './start-subjects.ts'
import { type Subject, WORKLOAD_NAMES, WORKLOADS, SUBJECT_ROWS } from './subject.ts'

const RESULTS = new URL('RESULTS.md', import.meta.url)
const PAGE = new URL('../docs/explanation/performance.md', import.meta.url)

async function bench(options: BenchOptions): Promise<void> {
  await using running = new AsyncDisposableStack()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void running.disposeAsync().finally(() => process.exit(130)))
  }
  await installPackages('bench/packages', progress)
  await installPackages('peers', progress)
  const { publishes, subjects: wanted } = options
  const { subjects, croft } = await startSubjects(
    {
      isWanted: (...names) => names.some((name) => wanted.includes(name)),
      isColdWanted: publishes > 0,
      progress,
    },
    running,
  )
  const measured = await measureRounds(subjects, options)
  const cold = croft && (await coldCalls(croft, options))

  const text = resultsText({ measured, cold })
  console.log(text)
  if (!options.writesResults) return
  const file = resultsFile(text, options, {
    day: new Date().toISOString().slice(0, 10),
    machine: machineLine(),
    versions: versionsLine(),
  })
  await writeFile(RESULTS, file)
  await writeFile(PAGE, performancePage(await readFile(RESULTS, 'utf8')))
}

async function coldCalls(
  croft: CroftProcess,
  { publishes }: BenchOptions,
): Promise<ColdCalls | undefined> {
  if (publishes === 0) return undefined
  progress('cold site')
  return measureColdCalls(croft, publishes)
}

/** Interleaved, so that other load of the machine affects all subjects equally. */
async function measureRounds(
  subjects: readonly Subject[],
  { rounds, ...times }: BenchOptions,
): Promise<Measurements> {
  const measured = new Measurements()
  for (let round = 1; round <= rounds; round += 1) {
    for (const workload of WORKLOAD_NAMES) {
      const taking = subjects.filter(({ name }) => SUBJECT_ROWS[name].workload === workload)
      for (const count of WORKLOADS[workload].connections) {
        for (const subject of taking) {
          progress(`round ${round} of ${rounds}: ${subject.name} at ${count}`)
          measured.add(subject.name, count, await takeSample(subject, count, times))
        }
      }
    }
  }
  return measured
}

/** On standard error: standard output is the tables. */
function progress(words: string): void {
  process.stderr.write(`${words}\n`)
}

function optionsOf(args: readonly string[]): BenchOptions | undefined {
  try {
    return parseBenchOptions(args)
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
  if (options !== undefined) await bench(options)
}
