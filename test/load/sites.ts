import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { type CroftProcess, startCroft } from '#bench/croft/croft-process.ts'
import { httpCall, jsonCall } from '#bench/http-call.ts'
import { columns } from '#bench/load/load-table.ts'
import { median, quantile } from '#bench/median.ts'
import { startRedis } from '#test/redis.ts'

import { PARTS, cpuByPart } from './sites/cpu-by-part.ts'

const USAGE = `npm run load:sites -- [--sites N] [--builders N] [--jwks]

Starts a fresh installation with Redis, creates N sites through the API, each with a function and an operation, and calls
each once. Prints the processor time that a site takes by part of the installation, the time and the rate. With --jwks the
keys of each visitor pool are fetched, too. Exits with 1 when a site costs more than 60 ms beside its keys, or a thousand
would take more than three minutes.`

const MAX_SITE_MS = 60
const MAX_SECONDS_A_SITE = 0.18
/** What happens only once: the sandbox's first host, the first plans of the database. */
const REHEARSALS = 5
const POLL_MS = 50
const CODE =
  'export default ({ payload, site }) => ({ site: site.siteDomain, hello: payload.name })'

interface Options {
  readonly sites: number
  readonly builders: number
  readonly jwks: boolean
}

async function main({ sites, builders, jwks }: Options): Promise<boolean> {
  await using redis = await startRedis()
  await using croft = await startCroft(undefined, { REDIS_URL: redis.url })
  await createSites(croft, { names: namesOf('rehearsal', REHEARSALS), builders: 1, jwks })
  const before = cpuByPart(croft.pid)
  const startMs = performance.now()
  const latencies = await createSites(croft, { names: namesOf('site', sites), builders, jwks })
  const seconds = (performance.now() - startMs) / 1000
  const after = cpuByPart(croft.pid)
  const spent = PARTS.map((part): [string, number] => [
    part,
    (((after.get(part) ?? 0) - (before.get(part) ?? 0)) / sites) * 1000,
  ])
  const besideKeys = spent.reduce(
    (sum, [part, ms]) => (part === 'service: pool threads' ? sum : sum + ms),
    0,
  )
  print(spent, besideKeys)
  console.log(
    `${sites} sites in ${seconds.toFixed(1)} s, ${(sites / seconds).toFixed(1)}/s; one: p50 ${median(latencies).toFixed(0)} ms, p99 ${quantile(latencies, 0.99).toFixed(0)} ms`,
  )
  return besideKeys <= MAX_SITE_MS && seconds / sites <= MAX_SECONDS_A_SITE
}

const namesOf = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${name}-${at}.test`)

/** How long each took, in milliseconds. */
async function createSites(
  croft: CroftProcess,
  { names, builders, jwks }: { names: readonly string[]; builders: number; jwks: boolean },
): Promise<number[]> {
  const latencies: number[] = []
  const rest = names.values()
  const build = async () => {
    for (const domain of rest) {
      const startMs = performance.now()
      await createSite(croft, domain)
      if (jwks) await fetchKeys(croft, domain)
      latencies.push(performance.now() - startMs)
      if (latencies.length % 100 === 0) process.stderr.write(`${latencies.length} sites\n`)
    }
  }
  await Promise.all(Array.from({ length: builders }, build))
  return latencies
}

async function createSite({ origin, operatorKey }: CroftProcess, domain: string): Promise<void> {
  const post = <Body>(path: string, token: string, body: object) =>
    jsonCall<Body>({ origin, host: domain, method: 'POST', path, token, body })
  const user = `ann@${domain}`
  await post('/portal/api/sites', operatorKey, { domain, superAdmins: [user] })
  const tokens = `/portal/api/sites/${domain}/tokens`
  const { token } = await post<{ token: string }>(tokens, operatorKey, { user })
  const { resourceId } = await post<{ resourceId: string }>('/admin/data/resources', token, {
    type: 'lambdaFunction',
    name: 'greet',
    config: { code: CODE },
  })
  await post('/admin/data/operations', token, {
    operation: 'greet',
    lambdaResourceId: resourceId,
    auth: { mode: 'public' },
  })
  await firstAnswer(origin, domain)
}

/** Until the operation is published its calls are refused as retryable. */
async function firstAnswer(origin: string, domain: string): Promise<void> {
  const call = {
    origin,
    host: domain,
    path: '/data/public/greet',
    body: { payload: { name: 'Ada' } },
  }
  for (;;) {
    await pause(POLL_MS)
    const { status, text } = await httpCall({ ...call, method: 'POST' })
    if (status === 200) return
    if (status !== 503 && status !== 404) throw new Error(`"${domain}" answered ${status}: ${text}`)
  }
}

async function fetchKeys({ origin }: CroftProcess, host: string): Promise<void> {
  const get = <Body>(path: string) => jsonCall<Body>({ origin, host, method: 'GET', path })
  const { userPoolId } = await get<{ userPoolId: string }>('/data/public/auth/config')
  await get(`/oidc/${userPoolId}/.well-known/jwks.json`)
}

function print(spent: readonly [string, number][], besideKeys: number): void {
  const rows = spent.map(([part, ms]) => [part, ms.toFixed(1)])
  console.log(columns([['part', 'CPU ms a site'], ...rows]))
  console.log(
    `a site costs ${besideKeys.toFixed(1)} ms beside the pool threads, which make its keys`,
  )
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    sites: { type: 'string', default: '1000' },
    builders: { type: 'string', default: '4' },
    jwks: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else {
  const { sites, builders, jwks } = values
  const isFine = await main({ sites: Number(sites), builders: Number(builders), jwks })
  process.exitCode = isFine ? 0 : 1
}
