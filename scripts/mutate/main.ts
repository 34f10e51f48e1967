import { join } from 'node:path'

import { type Mutation, staleLines } from './mutation.ts'
import { MUTATIONS } from './mutations.ts'
import { SourcesCopy } from './sources-copy.ts'
import { runTests } from './test-run.ts'

const ROOT = join(import.meta.dirname, '../..')
const HELP = `npm run mutate [-- WORDS…]

Puts one small fault after the other into a copy of these sources and runs the tests that must see it. WORDS choose the faults whose
names or files contain one of them; "--list" prints them. Exits with 1 when a fault survives.
`

const words = process.argv.slice(2)
const chosen = MUTATIONS.filter(
  ({ name, file }) =>
    words.every((word) => word.startsWith('--')) ||
    words.some((word) => name.includes(word) || file.includes(word)),
)
const print = (line: string): void => void process.stdout.write(`${line}\n`)
if (words.includes('--help')) print(HELP)
else if (words.includes('--list')) for (const { name, why } of chosen) print(`${name}: ${why}`)
else process.exitCode = await run()

async function run(): Promise<number> {
  const stale = staleLines(ROOT, MUTATIONS)
  if (stale.length > 0) {
    print(`The list is stale, mend it in scripts/mutate/mutations:\n${stale.join('\n')}`)
    return 2
  }
  await using copy = await SourcesCopy.of(ROOT)
  const tests = [...new Set(chosen.flatMap((mutation) => mutation.tests))]
  print(`${chosen.length} faults; first their ${tests.length} test files without any…`)
  const { outcome, failure, output } = await runTests(copy.folder, tests, { bail: 0 })
  if (outcome !== 'passed') {
    print(`${output}\nThe tests fail without a fault: ${failure || outcome}`)
    return 2
  }
  return report(await tryAll(copy))
}

/** Those that no test saw. */
async function tryAll(copy: SourcesCopy): Promise<readonly Mutation[]> {
  const survivors: Mutation[] = []
  for (const [at, mutation] of chosen.entries()) {
    const begunAt = performance.now()
    const ran = await copy.with(mutation, (folder) => runTests(folder, mutation.tests, { bail: 1 }))
    const isKilled = ran.outcome === 'failed'
    if (!isKilled) survivors.push(mutation)
    const seconds = ((performance.now() - begunAt) / 1000).toFixed(1)
    const end = isKilled ? `killed by "${ran.failure}"` : `SURVIVED (${ran.outcome})`
    print(`[${at + 1}/${chosen.length}] ${mutation.name}: ${end}, ${seconds} s`)
    if (ran.outcome === 'nothing ran') print(ran.output)
  }
  return survivors
}

function report(survivors: readonly Mutation[]): number {
  for (const { name, file, why, tests } of survivors) {
    print(`SURVIVED ${name} (${file}): ${why}. Not seen by ${tests.join(', ')}`)
  }
  print(`${chosen.length - survivors.length} killed, ${survivors.length} survived`)
  return survivors.length === 0 ? 0 : 1
}
