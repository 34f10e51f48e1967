import { parseArgs } from 'node:util'

import { columns } from '#bench/load/load-table.ts'
import type { CallOutcome } from '#platform/sandbox-host/sandbox.ts'
import { ATTACK_SCRIPTS, type AttackScript } from '#test/attack-scripts.ts'
import { besideOpenLoop, type VictimReport } from '#test/open-loop-victim.ts'
import { TestSandbox } from '#test/test-sandbox.ts'

const USAGE = `npm run load:attacks -- [--only WORDS] [--seconds N]

Runs each hostile script in a closed loop for a while, and beside it calls another site 50 times a second, whether it is
answered or not. Prints how the attacker ended and what became of the other site. Nothing else should run on the machine.
Exit code 1 when a call of the other site failed.`

const CALLS_PER_SECOND = 50
const HEADINGS = [
  'attack',
  'ended',
  'calls',
  'failed',
  '> 500 ms',
  'p50 ms',
  'p99 ms',
  'max ms',
] as const

async function main(scripts: readonly AttackScript[], seconds: number): Promise<boolean> {
  const quiet = await attacked({ name: 'nothing', code: 'export default () => 1' }, seconds)
  const rows = [quiet]
  for (const script of scripts) rows.push(await attacked(script, seconds))
  console.log(columns([[...HEADINGS], ...rows.map(({ row }) => row)]))
  return rows.every(({ report }) => report.failures.length === 0)
}

async function attacked({ name, code }: AttackScript, seconds: number) {
  await using sandbox = await TestSandbox.start({}, { cpuMs: 1000, queueMs: 10_000 })
  const victim = sandbox.program('export default ({ payload }) => payload + 1')
  const attacker = sandbox.program(code, { fn: { memoryMb: 128 } })
  const ready = () => sandbox.hosts.status().hosts.every((host) => host.ready)
  while (!ready()) await sandbox.call(victim, 1)
  const ends = new Set<string>()
  const report = await besideOpenLoop(
    () => sandbox.call(victim, 1),
    CALLS_PER_SECOND,
    async () => {
      const untilMs = performance.now() + seconds * 1000
      while (performance.now() < untilMs) ends.add(endOf(await sandbox.call(attacker)))
    },
  )
  return { report, row: rowOf(name, [...ends].toSorted().join(' '), report) }
}

function endOf(outcome: CallOutcome): string {
  if (outcome.ok) return 'ok'
  return outcome.failure.kind === 'limit' ? outcome.failure.what : outcome.failure.kind
}

const rowOf = (name: string, ends: string, report: VictimReport): string[] => [
  name,
  ends,
  String(report.calls),
  String(report.failures.length),
  String(report.slow),
  ...[report.p50Ms, report.p99Ms, report.longestMs].map((ms) => ms.toFixed(1)),
]

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '5' },
  },
})
if (values.help) console.log(USAGE)
else {
  const chosen = ATTACK_SCRIPTS.filter(({ name }) => name.includes(values.only))
  process.exitCode = (await main(chosen, Number(values.seconds))) ? 0 : 1
}
