import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { type CroftProcess, startCroft } from '#bench/croft/croft-process.ts'
import { type LoadReport, runLoad } from '#bench/load/load-run.ts'
import { columns } from '#bench/load/load-table.ts'
import { median, quantile } from '#bench/median.ts'
import { rssBytes } from '#platform/sandbox-host/process-usage.ts'
import { childrenOf } from '#test/process-table.ts'
import { runs } from '#test/sandbox-processes.ts'

import { OneOperationSite } from './warm-sites/one-operation-site.ts'

const MAX_P50_MS = 1.5
const MAX_COLD_P50_MS = 4
const MAX_SITE_MB = 2.5
const USAGE = `npm run load:warm-sites -- [--sites N] [--seconds N] [--host-memory MB]

Starts a fresh installation, gives each of its sites a small function, calls every function for the first time and then
all in turn over eight connections. Nothing else should run on the machine. Exit code 1 when a call failed, half of the
calls took longer than ${MAX_P50_MS} ms, half of the first calls longer than ${MAX_COLD_P50_MS} ms, or a warm site takes more than ${MAX_SITE_MB} MB.`

const CONNECTIONS = 8
/** Sites that are made at once. */
const BUILDERS = 4
/** Calls that the service has seen before the first one that counts. */
const REHEARSALS = 50
/** Between two first calls, as visitors of different sites leave it. */
const PAUSE_MS = 30
const MIB = 1024 * 1024

interface Warmth {
  readonly coldMs: readonly number[]
  readonly report: LoadReport
  /** Resident memory of each host in MB before the first call and after the last, by process. */
  readonly before: ReadonlyMap<number, number>
  readonly after: ReadonlyMap<number, number>
}

async function main(count: number, seconds: number, hostMemory: string): Promise<boolean> {
  const operatorKey = randomBytes(32).toString('base64url')
  const memory = hostMemory === '' ? {} : { CROFT_SANDBOX_HOST_MEMORY_MB: hostMemory }
  await using croft = await startCroft(undefined, { CROFT_OPERATOR_KEY: operatorKey, ...memory })
  const { origin } = croft
  const sites = await makeSites(count + 1, (domain) =>
    OneOperationSite.create({ origin, operatorKey, domain }),
  )
  const warmth = await measure(croft, sites, seconds)
  const siteMb = (total(warmth.after) - total(warmth.before)) / count
  print(warmth, siteMb)
  const { errors, succeeded, latencyMs } = warmth.report.total
  return (
    Object.keys(errors).length === 0 &&
    succeeded > 0 &&
    latencyMs.p50 <= MAX_P50_MS &&
    median(warmth.coldMs) <= MAX_COLD_P50_MS &&
    siteMb <= MAX_SITE_MB
  )
}

async function makeSites<Site>(
  count: number,
  make: (domain: string) => Promise<Site>,
): Promise<Site[]> {
  const sites: Site[] = []
  const domains = Array.from({ length: count }, (_, at) => `warm-${at}.test`).values()
  const build = async () => {
    for (const domain of domains) {
      sites.push(await make(domain))
      if (sites.length % 50 === 0) progress(`${sites.length} sites`)
    }
  }
  await Promise.all(Array.from({ length: BUILDERS }, build))
  return sites
}

/** The first site is for what happens only once. */
async function measure(
  croft: CroftProcess,
  [rehearsal, ...sites]: readonly OneOperationSite[],
  seconds: number,
): Promise<Warmth> {
  for (let call = 0; call < REHEARSALS; call += 1) await rehearsal?.callMs()
  const before = hostMemory(croft)
  progress('first calls')
  const coldMs: number[] = []
  for (const site of sites) {
    await pause(PAUSE_MS)
    coldMs.push(await site.callMs())
  }
  progress(`all in turn for ${seconds} s`)
  const report = await runLoad({
    origin: croft.origin,
    tenants: sites.map(({ tenant }) => tenant),
    connections: CONNECTIONS,
    warmupMs: 0,
    durationMs: seconds * 1000,
    timeoutMs: 10_000,
  })
  return { coldMs, report, before, after: hostMemory(croft) }
}

function hostMemory({ pid }: CroftProcess): Map<number, number> {
  const hosts = childrenOf(pid).filter((one) => runs(one, 'host'))
  return new Map(hosts.map((host) => [host.pid, rssBytes(host.pid) / MIB]))
}

const total = (memory: ReadonlyMap<number, number>): number =>
  memory.values().reduce((sum, mb) => sum + mb, 0)

function print({ coldMs, report, before, after }: Warmth, siteMb: number): void {
  const { succeeded, errors, latencyMs } = report.total
  const hosts = [...after].map(([pid, mb]) => [
    String(pid),
    (before.get(pid) ?? 0).toFixed(0),
    mb.toFixed(0),
  ])
  const failures = Object.entries(errors).map(([kind, calls]) => `${kind}: ${calls}`)
  const lines = [
    columns([['host', 'MB before', 'MB after'], ...hosts]),
    '',
    `a warm site: ${siteMb.toFixed(2)} MB`,
    `first calls: p50 ${median(coldMs).toFixed(2)} ms, p99 ${quantile(coldMs, 0.99).toFixed(2)} ms`,
    `${succeeded} calls in turn: p50 ${latencyMs.p50.toFixed(2)} ms, p99 ${latencyMs.p99.toFixed(2)} ms`,
    failures.length === 0 ? 'no failure' : failures.join(', '),
    ...(report.firstFault === undefined ? [] : [`first fault: ${report.firstFault}`]),
  ]
  console.log(lines.join('\n'))
}

/** On standard error: standard output is the outcome. */
function progress(words: string): void {
  process.stderr.write(`${words}\n`)
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    sites: { type: 'string', default: '300' },
    seconds: { type: 'string', default: '60' },
    'host-memory': { type: 'string', default: '' },
  },
})
if (values.help) console.log(USAGE)
else {
  const isFine = await main(Number(values.sites), Number(values.seconds), values['host-memory'])
  process.exitCode = isFine ? 0 : 1
}
