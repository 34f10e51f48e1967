/** Small public files from Croft, from Bun alone and from nginx, side by side in one run. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { startChild } from '#bench/child-process.ts'
import { type CroftProcess, startCroft } from '#bench/croft/croft-process.ts'
import { median } from '#bench/median.ts'
import { type Sample, takeSample } from '#bench/sample.ts'
import type { Subject } from '#bench/subject.ts'

import { startNginx } from './nginx.ts'

const DOMAIN = 'static.test'
const FILES = 200
const FILE_BYTES = 4096
const ROUNDS = 5
const CONNECTIONS = 32
const TIMES = { warmupMs: 1000, durationMs: 3000, maxTries: 1 }
const AIMS = { 'bun-routes': 0.7, 'bun-file': 0.7, nginx: 1 } as const
const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

type Contender = Omit<Subject, 'name'> & { readonly name: string }

async function main(): Promise<void> {
  await using running = new AsyncDisposableStack()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void running.disposeAsync().finally(() => process.exit(130)))
  }
  const folder = await mkdtemp(join(tmpdir(), 'croft-static-'))
  running.defer(() => rm(folder, { recursive: true, force: true }))
  const files = await writeSite(folder)
  const { contenders, notes } = await startAll(running, join(folder, 'site/public'), folder, files)
  const samples = new Map<string, Sample[]>()
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const contender of contenders) {
      process.stderr.write(`round ${round} of ${ROUNDS}: ${contender.name}\n`)
      const sample = await takeSample(contender, CONNECTIONS, TIMES)
      if (sample.firstFault !== undefined)
        throw new Error(`${contender.name}: ${sample.firstFault}`)
      samples.set(contender.name, [...(samples.get(contender.name) ?? []), sample])
    }
  }
  const text = [...tableOf(samples), '', ...notes].join('\n')
  process.stdout.write(`${text}\n`)
  await writeFile(new URL('RESULTS.md', import.meta.url), resultsFile(text))
}

/** A site of short style sheets that differ; returns their names. */
async function writeSite(folder: string): Promise<string[]> {
  const root = join(folder, 'site/public')
  await mkdir(root, { recursive: true })
  for (const path of [folder, join(folder, 'site'), root]) await chmod(path, 0o755)
  await writeFile(join(folder, 'build.yml'), 'ARTIFACT_DIR: site\n')
  const names = Array.from({ length: FILES }, (_, at) => `part-${at}.css`)
  for (const name of names) {
    await writeFile(join(root, name), `/* ${name} */\n`.repeat(400).slice(0, FILE_BYTES))
  }
  return names
}

async function startAll(
  running: AsyncDisposableStack,
  root: string,
  folder: string,
  files: readonly string[],
): Promise<{ contenders: Contender[]; notes: string[] }> {
  const tenants = [tenantOf(files)]
  const croft = running.use(await startCroft())
  await deploy(croft, folder)
  const contenders: Contender[] = [{ name: 'croft', origin: croft.origin, pid: croft.pid, tenants }]
  for (const mode of ['routes', 'file']) {
    const child = running.use(startChild('bun', [script('bun-server.ts'), mode, root]))
    const port = await child.line((line) => /^listening (\d+)$/.exec(line)?.[1])
    const origin = `http://127.0.0.1:${port}`
    contenders.push({ name: `bun-${mode}`, origin, pid: child.pid, tenants })
  }
  const nginx = await startNginx(root, `/${files[0]}`)
  if (!nginx) return { contenders, notes: ['nginx is not installed: nothing was compared with it'] }
  running.use(nginx)
  contenders.push({ name: 'nginx', origin: nginx.origin, pid: nginx.pid, tenants })
  return { contenders, notes: [nginx.version] }
}

const tenantOf = (files: readonly string[]): Subject['tenants'][number] => ({
  host: DOMAIN,
  path: '/',
  reads: files.map((name) => `/${name}`),
  bodies: [],
  expect: { status: 200, bodyBytes: FILE_BYTES, includes: 'part-' },
})

async function deploy(croft: CroftProcess, folder: string): Promise<void> {
  await croft.command('site', 'create', '--domain', DOMAIN, '--artifact-dir', 'site')
  await croft.command('site', 'deploy', DOMAIN, '--from', folder)
}

function tableOf(samples: ReadonlyMap<string, readonly Sample[]>): string[] {
  const of = (name: string, figure: 'perSecond' | 'cpuUsPerRequest' | 'p99Ms'): number[] =>
    (samples.get(name) ?? []).map((sample) => sample[figure])
  const rows = [...samples.keys()].map((name) =>
    [
      name.padEnd(12),
      median(of(name, 'perSecond')).toFixed(0).padStart(12),
      median(of(name, 'cpuUsPerRequest')).toFixed(1).padStart(16),
      median(of(name, 'p99Ms')).toFixed(2).padStart(9),
    ].join(''),
  )
  const ratios = Object.entries(AIMS).flatMap(([name, aim]) => {
    const others = of(name, 'perSecond')
    if (others.length === 0) return []
    const ratio = median(of('croft', 'perSecond').map((rate, at) => rate / (others[at] ?? NaN)))
    const cpu = median(
      of(name, 'cpuUsPerRequest').map(
        (each, at) => each / (of('croft', 'cpuUsPerRequest')[at] ?? NaN),
      ),
    )
    return [
      `${ratio >= aim ? 'PASS' : 'MISS'}  croft serves ${ratio.toFixed(2)} × what ${name} serves (at least ${aim}); per second of processor time ${cpu.toFixed(2)} ×`,
    ]
  })
  return ['subject       requests/s   CPU µs/request   p99, ms', ...rows, '', ...ratios]
}

const resultsFile = (text: string): string => `# Results of \`npm run bench:static\`

${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores.

${FILES} files of ${FILE_BYTES} bytes, asked for in turn as they are over ${CONNECTIONS} kept connections on loopback, closed loop; the load generator runs on the same cores.
Medians of ${ROUNDS} interleaved rounds of ${TIMES.durationMs / 1000} s; ratios are taken within a round. Croft is an installation as \`npm start\` makes it, and finds the site, negotiates, and sends its headers and an id with each answer.
\`bun-routes\` holds every file in memory as a static route, answered without JavaScript; \`bun-file\` answers with \`Bun.file\`; nginx is configured as Debian does.

\`\`\`text
${text}
\`\`\`
`

await main()
