import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { type CroftProcess, startCroft } from '#bench/croft/croft-process.ts'
import { jsonCall } from '#bench/http-call.ts'
import { columns } from '#bench/load/load-table.ts'
import { quantile } from '#bench/median.ts'
import { startRedis } from '#test/redis.ts'

import { PARTS, cpuByPart } from './sites/cpu-by-part.ts'

const USAGE = `npm run load:jobs -- [--sites N] [--jobs N] [--program FILE]

Starts a fresh installation with Redis, gives each of N sites a function and jobs that are all due at one minute, and prints
how long after it their runs started, and the processor time. Exits with 1 when a run is missing or did not succeed, one
started later than 15 seconds after its time, or the first one of a site later than 3 seconds. --program is the bin/croft.js
of another checkout.`

const MAX_LAST_MS = 15_000
const MAX_FIRST_MS = 3000
const BUILDERS = 4
const MINUTE_MS = 60_000
/** Between the last schedule and the minute that it names. */
const HEADROOM_MS = 5000
const PUTS_A_SECOND = 60
const POLL_MS = 1000
const CODE = 'export default ({ payload }) => payload'

interface Options {
  readonly sites: number
  readonly jobs: number
  readonly program: string | undefined
}

interface Site {
  readonly domain: string
  readonly token: string
}

interface ListedJob {
  readonly jobId: string
  readonly lastRun: { readonly status: string; readonly startedAt: string | null } | null
}

async function main({ sites, jobs, program }: Options): Promise<boolean> {
  await using redis = await startRedis()
  const command = program === undefined ? undefined : [process.execPath, program, 'serve']
  await using croft = await startCroft(command, { REDIS_URL: redis.url })
  const domains = Array.from({ length: sites }, (_, at) => `jobs-${at}.test`)
  const created = await inParallel(domains, (domain) => createSite(croft, domain))
  const needMs = (sites * jobs * 1000) / PUTS_A_SECOND + HEADROOM_MS
  const dueMs = Math.ceil((Date.now() + needMs) / MINUTE_MS) * MINUTE_MS
  const due = new Date(dueMs)
  const cron = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`
  process.stderr.write(`${sites} sites; jobs for ${due.toISOString()}\n`)
  await inParallel(created, (site) => scheduleJobs(croft, site, { jobs, cron }))
  if (Date.now() > dueMs) throw new Error('The jobs were not scheduled in time')
  await pause(dueMs - Date.now())
  const before = cpuByPart(croft.pid)
  const runs = await startedRuns(croft, created, jobs)
  const after = cpuByPart(croft.pid)
  const spent = PARTS.map(
    (part) => [part, (after.get(part) ?? 0) - (before.get(part) ?? 0)] as const,
  )
  return print({ runs, dueMs, expected: sites * jobs, spent })
}

async function createSite({ origin, operatorKey }: CroftProcess, domain: string): Promise<Site> {
  const post = <Body>(path: string, token: string, body: object) =>
    jsonCall<Body>({ origin, host: domain, method: 'POST', path, token, body })
  const user = `ann@${domain}`
  await post('/portal/api/sites', operatorKey, { domain, superAdmins: [user] })
  const tokens = `/portal/api/sites/${domain}/tokens`
  const { token } = await post<{ token: string }>(tokens, operatorKey, { user })
  const { resourceId } = await post<{ resourceId: string }>('/admin/data/resources', token, {
    type: 'lambdaFunction',
    name: 'tick',
    config: { code: CODE },
  })
  const operation = { operation: 'tick', lambdaResourceId: resourceId, auth: { mode: 'public' } }
  await post('/admin/data/operations', token, operation)
  return { domain, token }
}

async function scheduleJobs(
  { origin }: CroftProcess,
  { domain, token }: Site,
  { jobs, cron }: { readonly jobs: number; readonly cron: string },
): Promise<void> {
  for (let job = 0; job < jobs; job += 1) {
    const path = `/admin/data/jobs/job${job}`
    const body = { operation: 'tick', schedule: { cron } }
    await jsonCall({ origin, host: domain, method: 'PUT', path, token, body })
  }
}

/** By site, once all of them are over or nothing more has ended for a while. */
async function startedRuns(
  croft: CroftProcess,
  sites: readonly Site[],
  jobs: number,
): Promise<ReadonlyMap<string, readonly ListedJob[]>> {
  const runs = new Map<string, readonly ListedJob[]>()
  const endMs = Date.now() + 3 * MINUTE_MS
  // The measured minute is not disturbed by the measuring.
  await pause(MAX_LAST_MS)
  for (const site of sites) {
    for (;;) {
      const { origin } = croft
      const { domain: host, token } = site
      const path = `/admin/data/jobs?limit=${jobs}`
      const { items } = await jsonCall<{ items: readonly ListedJob[] }>({
        origin,
        host,
        method: 'GET',
        path,
        token,
      })
      runs.set(host, items)
      if (items.every(({ lastRun }) => lastRun?.status === 'succeeded')) break
      if (Date.now() > endMs) break
      await pause(POLL_MS)
    }
  }
  return runs
}

function print({
  runs,
  dueMs,
  expected,
  spent,
}: {
  readonly runs: ReadonlyMap<string, readonly ListedJob[]>
  readonly dueMs: number
  readonly expected: number
  readonly spent: readonly (readonly [string, number])[]
}): boolean {
  const bySite = [...runs.values()].map((jobs) =>
    jobs.flatMap(({ lastRun }) =>
      lastRun?.status === 'succeeded' && lastRun.startedAt !== null
        ? [Date.parse(lastRun.startedAt) - dueMs]
        : [],
    ),
  )
  const delays = bySite.flat()
  const firsts = bySite.map((ms) => Math.min(...ms))
  const row = (name: string, ms: readonly number[]) => [
    name,
    ...[0.5, 0.99, 1].map((part) => (quantile(ms, part) / 1000).toFixed(2)),
  ]
  console.log(
    columns([
      ['started after, s', 'p50', 'p99', 'last'],
      row('first of a site', firsts),
      row('every run', delays),
    ]),
  )
  console.log(columns([['part', 'CPU s'], ...spent.map(([part, s]) => [part, s.toFixed(1)])]))
  console.log(`${delays.length} of ${expected} runs succeeded`)
  return (
    delays.length === expected &&
    Math.max(...delays) <= MAX_LAST_MS &&
    Math.max(...firsts) <= MAX_FIRST_MS
  )
}

async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const rest = items.values()
  const results: Result[] = []
  const workRest = async () => {
    for (const item of rest) results.push(await work(item))
  }
  await Promise.all(Array.from({ length: BUILDERS }, workRest))
  return results
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    sites: { type: 'string', default: '490' },
    jobs: { type: 'string', default: '10' },
    program: { type: 'string' },
  },
})
if (values.help) console.log(USAGE)
else {
  const { sites, jobs, program } = values
  const isFine = await main({ sites: Number(sites), jobs: Number(jobs), program })
  process.exitCode = isFine ? 0 : 1
}
