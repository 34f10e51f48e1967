import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { columns } from '#bench/load/load-table.ts'
import type { CallOutcome } from '#platform/sandbox-host/sandbox.ts'
import { ATTACK_SCRIPTS, type AttackScript } from '#test/attack-scripts.ts'
import { besideOpenLoop, type VictimReport } from '#test/open-loop-victim.ts'
import { TestSandbox } from '#test/test-sandbox.ts'

const USAGE = `npm run load:attacks -- [--only WORDS] [--seconds N] [--connections N] [--tries N]

Runs each hostile script in closed loops for a while, and beside it calls another site 50 times a second, whether it is
answered or not; before it, the same without the script. The other site is harmed when a call fails or takes over 500 ms, or
when its p99 is over 10 ms beyond that of the quiet second before. What was harmed is run up to three times, since a busy
machine harms, too: nothing else should run on it. Exit code 1 when a script harmed at each try.`

const CALLS_PER_SECOND = 50
const QUIET_MS = 1000
const MAX_P99_BEYOND_QUIET_MS = 10
const HEADINGS = [
  'attack',
  'ended',
  'calls',
  'failed',
  '> 500 ms',
  'quiet p99',
  'p50',
  'p99',
  'max',
] as const

interface Options {
  readonly seconds: number
  /** Calls of the script at once. */
  readonly connections: number
  /** How often what harmed is run, since a busy machine harms, too. */
  readonly tries: number
}

interface Attacked {
  readonly name: string
  /** How the script's calls ended. */
  readonly ends: string
  readonly quiet: VictimReport
  readonly beside: VictimReport
}

async function main(scripts: readonly AttackScript[], options: Options): Promise<boolean> {
  const all: Attacked[] = []
  const harmful: Attacked[] = []
  for (const [at, script] of scripts.entries()) {
    const attacked = await leastHarm(script, options)
    all.push(attacked)
    if (isHarmed(attacked)) harmful.push(attacked)
    console.error(`${at + 1}/${scripts.length}  ${rowOf(attacked).join('  ')}`)
  }
  console.log(columns([[...HEADINGS], ...all.map(rowOf)]))
  console.log(totalsOf(all))
  for (const { name } of harmful) console.log(`harmed by: ${name}`)
  return harmful.length === 0
}

/** The first try without harm, or the last one. */
async function leastHarm(script: AttackScript, options: Options): Promise<Attacked> {
  let attacked = await attack(script, options)
  for (let tries = 1; tries < options.tries && isHarmed(attacked); tries += 1) {
    console.error(`again     ${rowOf(attacked).join('  ')}`)
    attacked = await attack(script, options)
  }
  return attacked
}

async function attack({ name, code }: AttackScript, options: Options): Promise<Attacked> {
  const { seconds, connections } = options
  await using sandbox = await TestSandbox.start({}, { cpuMs: 1000, queueMs: 10_000 })
  const victim = sandbox.program('export default ({ payload }) => payload + 1')
  const attacker = sandbox.program(code, { fn: { memoryMb: 128 } })
  const ready = () => sandbox.hosts.status().hosts.every((host) => host.ready)
  while (!ready()) await sandbox.call(victim, 1)
  const ends = new Set<string>()
  const beside = (work: () => Promise<unknown>) =>
    besideOpenLoop(() => sandbox.call(victim, 1), CALLS_PER_SECOND, work)
  const quiet = await beside(() => delay(QUIET_MS))
  const besideIt = await beside(() => {
    const untilMs = performance.now() + seconds * 1000
    const callOn = async () => {
      while (performance.now() < untilMs) ends.add(endOf(await sandbox.call(attacker)))
    }
    return Promise.all(Array.from({ length: connections }, callOn))
  })
  return { name, ends: [...ends].toSorted().join(' '), quiet, beside: besideIt }
}

const isHarmed = ({ quiet, beside }: Attacked): boolean =>
  beside.failures.length > 0 ||
  beside.slow > 0 ||
  beside.p99Ms > quiet.p99Ms + MAX_P99_BEYOND_QUIET_MS

function endOf(outcome: CallOutcome): string {
  if (outcome.ok) return 'ok'
  return outcome.failure.kind === 'limit' ? outcome.failure.what : outcome.failure.kind
}

const rowOf = ({ name, ends, quiet, beside }: Attacked): string[] => [
  name,
  ends,
  String(beside.calls),
  String(beside.failures.length),
  String(beside.slow),
  ...[quiet.p99Ms, beside.p50Ms, beside.p99Ms, beside.longestMs].map((ms) => ms.toFixed(1)),
]

function totalsOf(all: readonly Attacked[]): string {
  const sum = (of: (report: VictimReport) => number) =>
    all.reduce((total, { beside }) => total + of(beside), 0)
  const worst = Math.max(...all.map(({ beside }) => beside.p99Ms))
  return [
    `${all.length} scripts, ${sum(({ calls }) => calls)} calls beside them`,
    `${sum(({ failures }) => failures.length)} failed`,
    `${sum(({ slow }) => slow)} took over 500 ms`,
    `worst p99 ${worst.toFixed(1)} ms`,
  ].join(', ')
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '1' },
    tries: { type: 'string', default: '3' },
  },
})
if (values.help) console.log(USAGE)
else {
  const chosen = ATTACK_SCRIPTS.filter(({ name }) => name.includes(values.only))
  const options = {
    seconds: Number(values.seconds),
    connections: Number(values.connections),
    tries: Number(values.tries),
  }
  process.exitCode = (await main(chosen, options)) ? 0 : 1
}
