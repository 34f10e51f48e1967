import { execFile } from 'node:child_process'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'

import type { LoadReport } from '#bench/load/load-run.ts'
import { columns } from '#bench/load/load-table.ts'
import { median } from '#bench/median.ts'
import { SmtpServer } from '#test/smtp-server.ts'

import { deploying } from './soak/deploying.ts'
import { flooding } from './soak/flooding.ts'
import { growthPerMinute } from './soak/growth.ts'
import { type Footprint, Installation } from './soak/installation.ts'
import { mailing } from './soak/mailing.ts'
import type { Neighbour } from './soak/neighbour.ts'
import { SoakSite } from './soak/site.ts'
import { streaming } from './soak/streaming.ts'

const USAGE = `npm run load:neighbours -- [--minutes N] [--rate N] [--only NAME,…]

Calls a site at a steady rate (200 a second), alone and then for a while (15 minutes) beside four others: one floods its
function, one streams to clients that read, that wait and that leave, one mails to thousands of domains, one deploys all
the time. --only names some of flooding, streaming, mailing, deploying. Exit code 1 when one of its calls fails, when its
p99 is more than twice that of the time alone, or when memory keeps growing.`

const NEIGHBOURS: readonly Neighbour[] = [flooding, streaming, mailing, deploying]
const INNOCENT = 'innocent.test'
const ALONE_ROUNDS = 2
const MAX_RATIO = 2
/** In production the clients run on other machines. Here the neighbours' clients yield the processor to the service. */
const CLIENTS_NICENESS = 10
/** A service that has just been asked for much still grows. */
const WARM_UP_MINUTES = 3
const GROWTH_MIB = { serviceMib: 5, hostsMib: 20 } as const

interface Round extends Footprint {
  readonly minute: number
  readonly report: LoadReport
}

async function main(minutes: number, rate: number, neighbours: readonly Neighbour[]) {
  await using gateway = await SmtpServer.start()
  await using installation = await Installation.start({
    CROFT_LOG_LEVEL: 'warn',
    SMTP_URL: `smtp://127.0.0.1:${gateway.port}`,
  })
  const innocent = await SoakSite.create(installation, INNOCENT)
  await innocent.publish('add', 'export default ({ payload }) => payload + 1')
  const round = async (seconds: number): Promise<LoadReport> =>
    callInnocent(installation, { rate, seconds })
  await round(10)
  const before = await rounds(ALONE_ROUNDS, installation, () => round(30))
  setPriority(CLIENTS_NICENESS)
  const working = await Promise.all(neighbours.map((one) => one.start(installation)))
  const beside = await rounds(minutes, installation, () => round(60))
  const done = await Promise.all(working.map((stop) => stop()))
  const after = await rounds(ALONE_ROUNDS, installation, () => round(30))
  for (const [at, text] of done.entries()) console.log(`${neighbours[at]?.name ?? ''}: ${text}`)
  console.log(`the gateway took ${gateway.messages.length} messages`)
  return report({ alone: [...before, ...after], beside })
}

async function rounds(
  count: number,
  installation: Installation,
  run: () => Promise<LoadReport>,
): Promise<Round[]> {
  const done: Round[] = []
  for (let minute = 0; minute < count; minute += 1) {
    const one = { report: await run(), minute, ...installation.footprint() }
    const { latencyMs } = one.report.total
    console.error(
      `p50 ${latencyMs.p50.toFixed(1)} ms, p99 ${latencyMs.p99.toFixed(1)} ms, max ${latencyMs.max.toFixed(0)} ms, ${failuresOf(one)} failed; service ${one.serviceMib.toFixed(0)} MiB, hosts ${one.hostsMib.toFixed(0)} MiB`,
    )
    done.push(one)
  }
  return done
}

const ROOT = join(import.meta.dirname, '../..')

/** In a process of its own: what the neighbours' clients compute here does not count as waiting. */
async function callInnocent(
  { croft }: Installation,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<LoadReport> {
  const options = {
    url: `http://127.0.0.1:${croft.port}`,
    host: INNOCENT,
    path: '/data/public/add',
    body: '{"payload":1}',
    includes: '2',
    connections: '64',
    rate: String(rate),
    seconds: String(seconds),
  }
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const args = [join(ROOT, 'test/load/main.ts'), ...words, '--json']
  const running = promisify(execFile)(process.execPath, args)
  if (running.child.pid !== undefined) raisePriority(running.child.pid)
  // Exit code 1 means that calls failed; the report says which.
  const { stdout } = await running.catch((error: { readonly stdout?: string }) => {
    if (!error.stdout) throw error
    return { stdout: error.stdout }
  })
  const parsed: LoadReport = JSON.parse(stdout)
  return parsed
}

/** Sets the default priority. Needs root: without it the measured latency is somewhat higher. */
function raisePriority(pid: number): void {
  try {
    setPriority(pid, 0)
  } catch {
    console.error('the innocent client keeps the low priority of the neighbours: run this as root')
  }
}

const failuresOf = ({ report }: Pick<Round, 'report'>): number =>
  Object.values(report.total.errors).reduce((sum, count) => sum + count, 0)

function report(of: { readonly alone: readonly Round[]; readonly beside: readonly Round[] }) {
  const p99 = (all: readonly Round[]) => all.map((round) => round.report.total.latencyMs.p99)
  const row = (name: string, all: readonly Round[]): string[] => [
    name,
    String(all.reduce((sum, round) => sum + round.report.total.succeeded, 0)),
    String(all.reduce((sum, round) => sum + failuresOf(round), 0)),
    median(all.map((round) => round.report.total.latencyMs.p50)).toFixed(2),
    median(p99(all)).toFixed(2),
    Math.max(...p99(all)).toFixed(2),
    Math.max(...all.map((round) => round.report.total.latencyMs.max)).toFixed(0),
  ]
  console.log(
    columns([
      ['', 'answered', 'failed', 'p50 ms', 'p99', 'highest p99', 'longest'],
      row('alone', of.alone),
      row('beside', of.beside),
    ]),
  )
  for (const { report: one } of of.beside) {
    if (one.firstFault !== undefined) console.log(`first fault: ${one.firstFault}`)
  }
  const ratio = median(p99(of.beside)) / median(p99(of.alone))
  console.log(`p99 beside is ${ratio.toFixed(2)} of that alone; at most ${MAX_RATIO}`)
  const late = of.beside.filter(({ minute }) => minute >= WARM_UP_MINUTES)
  let isFlat = true
  for (const [what, bound] of Object.entries(GROWTH_MIB) as [keyof typeof GROWTH_MIB, number][]) {
    const slope = growthPerMinute(late.map((one) => ({ ...one, life: 0, value: one[what] })))
    console.log(`${what} grows by ${slope.toFixed(2)} a minute; at most ${bound}`)
    if (slope > bound) isFlat = false
  }
  const failed = of.beside.some((one) => failuresOf(one) > 0)
  return ratio <= MAX_RATIO && isFlat && !failed
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '15' },
    rate: { type: 'string', default: '200' },
    only: { type: 'string', default: NEIGHBOURS.map(({ name }) => name).join(',') },
  },
})
if (values.help) console.log(USAGE)
else {
  const names = new Set(values.only.split(',').filter(Boolean))
  const chosen = NEIGHBOURS.filter(({ name }) => names.has(name))
  if (chosen.length !== names.size) throw new Error(`--only: ${values.only}\n\n${USAGE}`)
  const isFine = await main(Number(values.minutes), Number(values.rate), chosen)
  process.exitCode = isFine ? 0 : 1
}
