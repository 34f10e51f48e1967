/**
 * `npm run load:static`: a site of 2000 files is switched 50 times while browsers read it, each of them a page and then the
 * script and the style sheet that the page names. Fails on the first request that fails, and on the first page with an asset of
 * another version.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

import { type CroftProcess, startCroft } from '#bench/croft/croft-process.ts'

const DOMAIN = 'switched.test'
const PAGES = 1000
const SWITCHES = 50
const BROWSERS = 8
/** Between the pages of one browser. */
const PAUSE_MS = 20
const WORDS = 'the quick brown fox jumps over the lazy dog '.repeat(20)

interface Tally {
  reads: number
  pages: number
  readonly versions: Set<string>
  readonly faults: string[]
}

const hashOf = (version: number): string => `${version.toString(16).padStart(7, '0')}a`

/** Half of the files are pages, the other half assets; a few of each change with every version. */
async function writeVersion(folder: string, version: number): Promise<void> {
  const root = join(folder, 'site/public')
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(root, 'assets'), { recursive: true })
  await writeFile(join(folder, 'build.yml'), 'ARTIFACT_DIR: site\n')
  const hash = hashOf(version)
  const script = `assets/app-${hash}.js`
  const style = `assets/app-${hash}.css`
  await writeFile(join(root, script), `version(${version}) // ${WORDS}`)
  await writeFile(join(root, style), `/* version(${version}) ${WORDS} */`)
  const page = `<!doctype html><link href="/${style}"><script src="/${script}"></script>v=${version}. ${WORDS}`
  for (let at = 0; at < PAGES; at++) await writeFile(join(root, `page-${at}.html`), page)
  for (let at = 0; at < PAGES - 2; at++) {
    await writeFile(join(root, `assets/part-${at}-${hashOf(at)}.txt`), `part ${at} ${WORDS}`)
  }
}

async function read(
  agent: Agent,
  origin: string,
  path: string,
): Promise<{ status: number; body: string }> {
  const outgoing = request(new URL(path, origin), { agent, headers: { host: DOMAIN } })
  const response = await new Promise<Parameters<typeof text>[0] & { statusCode?: number }>(
    (resolve, reject) => {
      outgoing.on('response', resolve)
      outgoing.on('error', reject)
      outgoing.end()
    },
  )
  return { status: response.statusCode ?? 0, body: await text(response) }
}

async function browse(origin: string, tally: Tally, signal: AbortSignal): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let turn = 0; !signal.aborted; turn++) {
    const page = await read(agent, origin, `/page-${turn % PAGES}`)
    const version = /v=(\d+)\./.exec(page.body)?.[1] ?? 'none'
    tally.pages += 1
    tally.reads += 1
    tally.versions.add(version)
    if (page.status !== 200) tally.faults.push(`a page answered ${page.status}`)
    for (const [, path = ''] of page.body.matchAll(/(?:href|src)="([^"]+)"/g)) {
      const asset = await read(agent, origin, path)
      tally.reads += 1
      const found = /version\((\d+)\)/.exec(asset.body)?.[1]
      if (asset.status !== 200) tally.faults.push(`${path} answered ${asset.status}`)
      else if (found !== version) tally.faults.push(`page ${version} got the asset of ${found}`)
    }
    await pause(PAUSE_MS)
  }
  agent.destroy()
}

async function switchAll(croft: CroftProcess, folder: string, tally: Tally): Promise<void> {
  for (let version = 1; version <= SWITCHES && tally.faults.length === 0; version++) {
    await writeVersion(folder, version)
    const startedAt = performance.now()
    await croft.command('site', 'deploy', DOMAIN, '--from', folder)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.error(`version ${version} of ${SWITCHES} in ${seconds} s, ${tally.reads} reads`)
  }
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-switch-'))
  try {
    await using croft = await startCroft()
    await croft.command('site', 'create', '--domain', DOMAIN, '--artifact-dir', 'site')
    await writeVersion(folder, 0)
    await croft.command('site', 'deploy', DOMAIN, '--from', folder)
    const tally: Tally = { reads: 0, pages: 0, versions: new Set(), faults: [] }
    const over = new AbortController()
    const browsers = Array.from({ length: BROWSERS }, () =>
      browse(croft.origin, tally, over.signal).catch((error: unknown) => {
        tally.faults.push(String(error))
      }),
    )
    await switchAll(croft, folder, tally)
    over.abort()
    await Promise.all(browsers)
    const { pages, reads, versions, faults } = tally
    console.log(
      `${SWITCHES} switches of ${2 * PAGES} files: ${pages} pages of ${versions.size} versions, ${reads} reads, ${faults.length} faults`,
    )
    for (const fault of faults.slice(0, 10)) console.log(fault)
    if (faults.length > 0) process.exitCode = 1
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

await main()
