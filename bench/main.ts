import { writeFile } from 'node:fs/promises'

import { type BenchOptions, USAGE, parseBenchOptions } from './bench-options.ts'
import { type ColdCalls, measureColdCalls } from './croft/cold-calls.ts'
import { type CroftProcess, startCroft } from './croft/croft-process.ts'
import { croftSubjects } from './croft/croft-subjects.ts'
import { Measurements } from './measurements.ts'
import { resultsFile } from './results-file.ts'
import { resultsText } from './results-table.ts'
import { takeSample } from './sample.ts'
import type { Subject } from './subject.ts'
import { startElysiaEcho } from './subjects/elysia-echo.ts'
import { MissingPackage, startWorkerd } from './subjects/workerd.ts'

const CROFT_SUBJECTS = ['cached', 'warm', 'warm-10-sites'] as const
const RESULTS = new URL('RESULTS.md', import.meta.url)

async function bench(options: BenchOptions): Promise<void> {
  await using running = new AsyncDisposableStack()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void running.disposeAsync().finally(() => process.exit(130)))
  }
  const { subjects, croft } = await startAll(options, running)
  const measured = await measureRounds(subjects, options)
  const cold = croft && (await coldCalls(croft, options))

  const table = resultsText({ measured, cold, connections: options.connections })
  console.log(table)
  if (options.writesResults) await writeFile(RESULTS, resultsFile(table, options, new Date()))
}

interface Started {
  readonly subjects: readonly Subject[]
  /** Undefined when nothing of it is to be measured. */
  readonly croft: CroftProcess | undefined
}

async function startAll(options: BenchOptions, running: AsyncDisposableStack): Promise<Started> {
  const wanted = ({ name }: Pick<Subject, 'name'>) => options.subjects.includes(name)
  const subjects: Subject[] = []
  if (wanted({ name: 'elysia-echo' })) subjects.push(running.use(await startElysiaEcho()))
  if (wanted({ name: 'workerd' })) subjects.push(running.use(await startWorkerd()))
  const onCroft = CROFT_SUBJECTS.some((name) => wanted({ name }))
  if (!onCroft && options.publishes === 0) return { subjects, croft: undefined }

  progress('starting Croft')
  const croft = running.use(await startCroft())
  if (onCroft) subjects.push(...(await croftSubjects(croft)).filter(wanted))
  return { subjects, croft }
}

async function coldCalls(
  croft: CroftProcess,
  { publishes }: BenchOptions,
): Promise<ColdCalls | undefined> {
  if (publishes === 0) return undefined
  progress('cold site')
  return measureColdCalls(croft, publishes)
}

/** Interleaved, so that what the machine does meanwhile meets all of them alike. */
async function measureRounds(
  subjects: readonly Subject[],
  { rounds, connections, ...times }: BenchOptions,
): Promise<Measurements> {
  const measured = new Measurements()
  for (let round = 1; round <= rounds; round += 1) {
    for (const count of connections) {
      for (const subject of subjects) {
        progress(`round ${round} of ${rounds}: ${subject.name} at ${count}`)
        const sample = await takeSample(subject, count, times)
        measured.add(subject.name, count, sample)
      }
    }
  }
  return measured
}

/** On standard error: standard output is the table. */
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

function explainMissing(error: unknown): void {
  if (!(error instanceof MissingPackage)) throw error
  console.error(error.message)
  process.exitCode = 1
}

const args = process.argv.slice(2)
if (args.includes('--help')) console.log(USAGE)
else {
  const options = optionsOf(args)
  if (options !== undefined) await bench(options).catch(explainMissing)
}
