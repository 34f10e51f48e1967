import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { type CroftProcess, startCroft } from '#bench/croft/croft-process.ts'
import { httpCall } from '#bench/http-call.ts'
import { quantile } from '#bench/median.ts'
import { waitUntil } from '#bench/wait-until.ts'

const USAGE = `node test/load/publishes.ts [--seconds N] [--modules N] [--imports N] [--at-once N]

Publishes a site of one function again and again, alone and while another site publishes code of 900 modules with 60 imports
each, whose modules import one another plainly, in a circle, as TypeScript, or with "export *". Exits with 1 if a publish of
the small site fails, or if the slowest of a hundred takes more than two seconds.`

const LARGE = 'large.test'
const SMALL = 'small.test'
const MAX_P99_MS = 2000
const KINDS = ['plain', 'circle', 'typescript', 'diamond'] as const

type Kind = (typeof KINDS)[number]
type Files = ReadonlyMap<string, string>

interface Graph {
  readonly modules: number
  readonly imports: number
}

interface Run extends Graph {
  readonly seconds: number
  /** Publishes of the large site that overlap. */
  readonly atOnce: number
}

async function main(run: Run): Promise<void> {
  await using croft = await startCroft()
  const large = await created(croft, LARGE)
  const small = await created(croft, SMALL)
  await publish(croft, small, smallSite(-1))
  report('alone', await measured(croft, small, run.seconds), undefined)
  for (const kind of KINDS) {
    const flooding = flood(croft, large, { ...run, kind })
    await delay(500)
    const figures = await measured(croft, small, run.seconds)
    report(`beside ${kind}`, figures, await flooding.end())
  }
}

async function created(croft: CroftProcess, domain: string): Promise<string> {
  const owner = `ann@${domain}`
  const words = ['site', 'create', domain, '--super-admin', owner]
  return (await croft.command<{ siteId: string }>(...words)).siteId
}

/** Publishes without a pause until it is ended; tells how often, and what was answered last. */
function flood(
  croft: CroftProcess,
  siteId: string,
  { kind, atOnce, ...graph }: Run & { kind: Kind },
) {
  let ended = false
  let count = 0
  let last = ''
  const one = async (at: number): Promise<void> => {
    for (let round = 0; !ended; round += 1) {
      const answer = await publish(croft, siteId, largeSite(kind, graph, `${at}.${round}`))
      last = `${answer.status} ${answer.text.slice(0, 200)}`
      count += 1
    }
  }
  const all = Promise.all(Array.from({ length: atOnce }, (_, at) => one(at)))
  return {
    async end(): Promise<string> {
      ended = true
      await all
      return `${count} publishes, the last: ${last}`
    },
  }
}

const definitionOf = (artifact: string): string =>
  JSON.stringify({
    resources: [{ type: 'lambdaFunction', name: 'answer', config: { artifact } }],
    operations: [{ operation: 'answer', lambdaResource: 'answer', auth: { mode: 'public' } }],
  })

const smallSite = (round: number): Files =>
  new Map([
    ['croft.json', definitionOf('answer.js')],
    ['answer.js', `export default () => ${round}`],
  ])

function largeSite(kind: Kind, { modules, imports }: Graph, round: string): Files {
  const extension = kind === 'typescript' ? 'ts' : 'js'
  const files = new Map([
    ['croft.json', definitionOf('main.js')],
    ['main.js', `import './m0.js'; export default () => '${round}'`],
  ])
  for (let at = 0; at < modules; at += 1) {
    const lines = Array.from({ length: imports }, (_, index) => {
      const next = at + index + 1
      const to = kind === 'circle' ? next % modules : Math.min(modules - 1, next)
      return `${kind === 'diamond' ? 'export * from' : 'import'} './m${to}.js'`
    })
    const type = kind === 'typescript' ? ': number' : ''
    files.set(`m${at}.${extension}`, `${lines.join('\n')}\nexport const v${at}${type} = ${at}\n`)
  }
  return files
}

/** Begins, uploads what is missing and activates. */
async function publish({ origin, operatorKey }: CroftProcess, siteId: string, texts: Files) {
  const headers = { authorization: `Bearer ${operatorKey}` }
  const base = `/portal/api/sites/${siteId}/deployments`
  const hashes = new Map([...texts].map(([path, text]) => [path, sha256(text)]))
  const files = [...texts].map(([path, text]) => ({
    path,
    sha256: hashes.get(path),
    sizeBytes: Buffer.byteLength(text),
  }))
  const call = { origin, host: 'localhost', token: operatorKey, method: 'POST' } as const
  const begun = await httpCall({
    ...call,
    path: base,
    body: { buildYml: 'ARTIFACT_DIR: dist', files },
  })
  if (begun.status !== 200) return begun
  const { deploymentId, missing } = JSON.parse(begun.text) as {
    deploymentId: string
    missing: string[]
  }
  const wanted = new Set(missing)
  const sent = [...texts].filter(([path]) => wanted.delete(hashes.get(path) ?? ''))
  for (let from = 0; from < sent.length; from += 8) {
    await Promise.all(
      sent.slice(from, from + 8).map(async ([path, body]) => {
        const url = `${origin}${base}/${deploymentId}/files/${hashes.get(path)}`
        const response = await fetch(url, {
          method: 'PUT',
          headers: { ...headers, 'content-type': 'application/octet-stream' },
          body,
        })
        if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
      }),
    )
  }
  const startMs = performance.now()
  const response = await fetch(`${origin}${base}/${deploymentId}/activate`, {
    method: 'POST',
    headers,
  })
  return { status: response.status, text: await response.text(), ms: performance.now() - startMs }
}

async function measured(croft: CroftProcess, siteId: string, seconds: number) {
  const latenciesMs: number[] = []
  const liveMs: number[] = []
  let failed = 0
  for (const endMs = performance.now() + seconds * 1000; performance.now() < endMs;) {
    const round = Math.floor(performance.now())
    const startMs = performance.now()
    const answer = await publish(croft, siteId, smallSite(round))
    latenciesMs.push(performance.now() - startMs)
    if (answer.status !== 200) {
      failed += 1
      if (failed < 3) console.log(answer.status, answer.text.slice(0, 300))
      continue
    }
    await waitUntil('published', async () => {
      const { origin } = croft
      const { text } = await httpCall({
        origin,
        host: SMALL,
        method: 'POST',
        path: '/data/public/answer',
        body: { payload: 1 },
      })
      return text.includes(String(round))
    })
    liveMs.push(performance.now() - startMs)
    await delay(50)
  }
  return { latenciesMs, liveMs, failed }
}

function report(
  what: string,
  { latenciesMs, liveMs, failed }: Awaited<ReturnType<typeof measured>>,
  large: string | undefined,
): void {
  const ms = (values: readonly number[], share: number): string =>
    `${(quantile(values, share) ?? 0).toFixed(0)} ms`
  const line = (values: readonly number[]): string =>
    `p50 ${ms(values, 0.5)}, p99 ${ms(values, 0.99)}, longest ${ms(values, 1)}`
  console.log(
    `${what}: ${latenciesMs.length} publishes, ${failed} failed; ${line(latenciesMs)}; live ${line(liveMs)}`,
  )
  if (large !== undefined) console.log(`  the large site: ${large}`)
  if (failed > 0 || (quantile(latenciesMs, 0.99) ?? 0) > MAX_P99_MS) process.exitCode = 1
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    modules: { type: 'string', default: '900' },
    imports: { type: 'string', default: '60' },
    'at-once': { type: 'string', default: '3' },
    help: { type: 'boolean' },
  },
})
if (values.help) console.log(USAGE)
else
  await main({
    seconds: Number(values.seconds),
    modules: Number(values.modules),
    imports: Number(values.imports),
    atOnce: Number(values['at-once']),
  })
