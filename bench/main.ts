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
import { startWorkerd } from './subjects/workerd.ts'

const RESULTS = new URL('RESULTS.md', import.meta.url)

async function bench(options: BenchOptions): Promise<void> {
  await using running = new AsyncDisposableStack()
  const subjects: Subject[] = []
  const wanted = (name: string) => options.subjects.some((subject) => subject === name)
  if (wanted('elysia-echo')) subjects.push(running.use(await startElysiaEcho()))
  if (wanted('workerd')) subjects.push(running.use(await startWorkerd()))
  let croft: CroftProcess | undefined
  if (options.publishes > 0 || wanted('cached') || wanted('warm') || wanted('warm-10-sites')) {
    progress('starting Croft')
    croft = running.use(await startCroft())
    subjects.push(...(await croftSubjects(croft)).filter(({ name }) => wanted(name)))
  }

  const measured = await measureRounds(subjects, options)
  let cold: ColdCalls | undefined
  if (croft !== undefined && options.publishes > 0) {
    progress('cold site')
    cold = await measureColdCalls(croft, options.publishes)
  }

  const table = resultsText({ measured, cold, connections: options.connections })
  console.log(table)
  if (options.writesResults) await writeFile(RESULTS, resultsFile(table, options, new Date()))
}

/** Interleaved, so that what the machine does meanwhile meets all of them alike. */
async function measureRounds(
  subjects: readonly Subject[],
  { rounds, connections, warmupMs, durationMs }: BenchOptions,
): Promise<Measurements> {
  const measured = new Measurements()
  for (let round = 1; round <= rounds; round += 1) {
    for (const count of connections) {
      for (const subject of subjects) {
        progress(`round ${round} of ${rounds}: ${subject.name} at ${count}`)
        const sample = await takeSample(subject, count, { warmupMs, durationMs })
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

const args = process.argv.slice(2)
if (args.includes('--help')) console.log(USAGE)
else await bench(parseBenchOptions(args))
