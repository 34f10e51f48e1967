import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { columns } from '#bench/load/load-table.ts'
import { quantile } from '#bench/median.ts'
import { Chance } from '#test/chance.ts'

import { growthPerMinute } from './soak/growth.ts'
import { Innocent } from './soak/innocent.ts'
import { type Footprint, Installation } from './soak/installation.ts'
import { Ledger } from './soak/ledger.ts'
import { SoakSite } from './soak/site.ts'
import { Tally } from './soak/tally.ts'
import { Unrest } from './soak/unrest.ts'

const USAGE = `npm run load:soak -- [--minutes N] [--seed N]

Runs the real service for a while (30 minutes) under attacks, deployments, evictions and kills drawn by chance, beside a site
that does no harm and one that writes. Exit code 1 when an innocent call fails that no kill excuses, a call gets no answer, an
acknowledged write is not there exactly once, a process outlives its service, or memory or open files keep growing.`

/** Less than the sites of a soak need: their isolates are evicted all the time. */
const SETTINGS = {
  CROFT_LOG_LEVEL: 'warn',
  CROFT_SANDBOX_HOSTS: '2',
  CROFT_SANDBOX_HOST_MEMORY_MB: '512',
  CROFT_SANDBOX_WARM_ISOLATES: '8',
}
const ATTACKERS = 3
const CROWD = 6
const CROWD_OPERATIONS = 4
const SAMPLE_MS = 5000
const CHECK_EVERY = 12
/** A service that has just started still grows. */
const WARM_UP_MS = 60_000
/** What may grow, per minute, and how far. */
const BOUNDS: readonly {
  readonly what: keyof Footprint
  readonly most: number
  readonly growth: number
}[] = [
  { what: 'serviceMib', most: 1024, growth: 10 },
  { what: 'hostsMib', most: 6 * 1024, growth: 50 },
  { what: 'hosts', most: 12, growth: 0.5 },
  { what: 'files', most: 400, growth: 5 },
]

interface Sample extends Footprint {
  readonly life: number
  readonly minute: number
  readonly isWarm: boolean
}

async function main(minutes: number, seed: number): Promise<boolean> {
  console.error(`seed ${seed}`)
  await using installation = await Installation.start(SETTINGS)
  const tally = new Tally()
  const { innocent, ledger, unrest } = await furnish(installation, tally, new Chance(seed))
  const ending = new AbortController()
  const { signal } = ending
  const work = [
    innocent.callOn(signal),
    innocent.publishOn(signal),
    ledger.writeOn(signal),
    unrest.run(signal),
  ]
  const samples = await watch(installation, { minutes, ledger, tally })
  ending.abort()
  await Promise.all(work)
  await ledger.check()
  const code = await installation.stop()
  if (code !== 0) tally.violation(`the service ended with ${code}`)
  for (const { command } of installation.orphans()) tally.violation(`left behind: ${command}`)
  report({ samples, tally, innocent, ledger })
  return tally.violations.length === 0
}

async function furnish(installation: Installation, tally: Tally, chance: Chance) {
  const site = (name: string) => SoakSite.create(installation, `${name}.test`)
  const innocent = await Innocent.open({ site: await site('innocent'), installation, tally })
  const ledger = await Ledger.open({ site: await site('ledger'), installation, tally })
  const attackers: SoakSite[] = []
  for (let at = 0; at < ATTACKERS; at += 1) {
    const attacker = await site(`attacker${at}`)
    await attacker.publish('attack', 'export default () => 1')
    attackers.push(attacker)
  }
  const crowd: SoakSite[] = []
  for (let at = 0; at < CROWD; at += 1) {
    const visited = await site(`crowd${at}`)
    for (let operation = 0; operation < CROWD_OPERATIONS; operation += 1) {
      await visited.publish(`op${operation}`, 'export default ({ payload }) => payload')
    }
    crowd.push(visited)
  }
  const unrest = new Unrest({ installation, attackers, crowd, chance, tally })
  return { innocent, ledger, unrest }
}

/** Reads the footprint and looks for orphans until the time is over. */
async function watch(
  installation: Installation,
  { minutes, ledger, tally }: { minutes: number; ledger: Ledger; tally: Tally },
): Promise<Sample[]> {
  const samples: Sample[] = []
  const startMs = performance.now()
  let suspects = new Set<number>()
  for (let turn = 1; performance.now() - startMs < minutes * 60_000; turn += 1) {
    await delay(SAMPLE_MS)
    if (installation.isDown) continue
    const { life, bornMs } = installation
    const nowMs = performance.now()
    const minute = (nowMs - startMs) / 60_000
    samples.push({ ...installation.footprint(), life, minute, isWarm: nowMs - bornMs > WARM_UP_MS })
    const orphans = installation.orphans()
    // What is seen twice is not about to end.
    for (const { pid, command } of orphans) {
      if (suspects.has(pid)) tally.violation(`outlives its parent: ${pid} ${command}`)
    }
    suspects = new Set(orphans.map(({ pid }) => pid))
    if (turn % CHECK_EVERY === 0) {
      await ledger.check().catch((error: unknown) => tally.count(`not checked: ${String(error)}`))
      progress(samples, tally)
    }
  }
  return samples
}

function progress(samples: readonly Sample[], { counts, violations }: Tally): void {
  const last = samples.at(-1)
  if (!last) return
  const footprint = BOUNDS.map(({ what }) => `${what} ${last[what].toFixed(0)}`).join(', ')
  const answered = counts.get('innocent answered') ?? 0
  console.error(
    `minute ${last.minute.toFixed(1)}: ${footprint}, ${answered} innocent calls, ${violations.length} violations`,
  )
}

function report(of: {
  samples: readonly Sample[]
  tally: Tally
  innocent: Innocent
  ledger: Ledger
}): void {
  const { samples, tally, innocent, ledger } = of
  const rows = [...tally.counts].toSorted(([one], [other]) => one.localeCompare(other))
  console.log(columns([['', 'times'], ...rows.map(([what, count]) => [what, String(count)])]))
  const at = (share: number) => quantile(innocent.latenciesMs, share).toFixed(1)
  console.log(
    `innocent calls: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms, ${innocent.slow} over 500 ms; ${ledger.acknowledged} writes acknowledged`,
  )
  const from = (samples.at(-1)?.minute ?? 0) / 3
  const late = samples.filter(({ minute, isWarm }) => isWarm && minute >= from)
  const grown = BOUNDS.map(({ what, most, growth }) => {
    const highest = Math.max(...samples.map((sample) => sample[what]))
    const slope = growthPerMinute(late.map((sample) => ({ ...sample, value: sample[what] })))
    if (highest > most) tally.violation(`${what} reached ${highest.toFixed(0)}`)
    if (slope > growth) tally.violation(`${what} grew by ${slope.toFixed(1)} a minute`)
    return [what, highest.toFixed(0), String(most), slope.toFixed(2), String(growth)]
  })
  console.log(columns([['', 'highest', 'bound', 'growth/min', 'bound'], ...grown]))
  console.log(`${tally.violations.length} violations`)
  for (const violation of tally.violations) console.log(`  ${violation}`)
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
})
if (values.help) console.log(USAGE)
else process.exitCode = (await main(Number(values.minutes), Number(values.seed))) ? 0 : 1
