import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { installRoot } from '#config/install-root.ts'
import type { Logger } from '#platform/log/logger.ts'
import { type GuestScripts, PART_NAMES } from '#sandbox/protocol/part-names.ts'

import { mailParserEntry, type SandboxEntries, sandboxEntries } from './sandbox-jail.ts'

/** The package manager empties it, and others may read it as they may read the sources. */
const CACHE = 'node_modules/.cache/croft'

/** How Node reads the files, which have no other manifest above them there. */
const MANIFEST = { type: 'module' }

/** What the processes of the sandbox run. */
export interface SandboxPrograms {
  readonly entries: SandboxEntries
  readonly mailParser: string
  scripts(): Promise<GuestScripts>
}

/**
 * The programs of a build; from sources, what a build would make of them, made once for each state of the sources. Where
 * nothing may be written beside them the sources are run.
 */
export async function openSandboxPrograms(
  log: Pick<Logger, 'warn'>,
  root: string = installRoot(),
): Promise<SandboxPrograms> {
  const sources = join(root, 'sandbox')
  const asTheyAre = {
    entries: sandboxEntries(),
    mailParser: mailParserEntry(),
    scripts: () => loadGuestScripts(root),
  }
  if (existsSync(join(sources, 'prelude.js'))) return asTheyAre
  try {
    const folder = join(root, CACHE, `sandbox-${await stateOf(root)}`)
    if (!existsSync(folder)) await buildInto(folder)
    return programsIn(folder)
  } catch (error) {
    log.warn({ err: error }, 'the sandbox runs from its sources, which takes more memory and time')
    return asTheyAre
  }
}

const programsIn = (folder: string): SandboxPrograms => ({
  entries: {
    host: join(folder, 'main.js'),
    preparer: join(folder, 'preparer.js'),
    probe: join(folder, 'probe.js'),
  },
  mailParser: join(folder, 'mail-parser.js'),
  scripts: () => readGuestScripts(folder),
})

/** The second of two that build at once finds the folder there: it has the same files. */
async function buildInto(folder: string): Promise<void> {
  const unfinished = `${folder}.${randomBytes(6).toString('hex')}`
  try {
    await mkdir(unfinished, { recursive: true })
    const { buildPrograms } = await import('#sandbox/build/build-programs.ts')
    await buildPrograms(unfinished)
    await writeFile(join(unfinished, 'package.json'), JSON.stringify(MANIFEST))
    await rename(unfinished, folder)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
}

/** Changes with every source, and with every package that is bundled. */
async function stateOf(root: string): Promise<string> {
  const hash = createHash('sha256')
  const folder = join(root, 'sandbox')
  const names = await readdir(folder, { recursive: true })
  const sources = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const paths = [
    ...sources.toSorted().map((name) => join(folder, name)),
    join(root, 'package-lock.json'),
  ]
  const contents = await Promise.all(paths.map((path) => readFile(path)))
  for (const [at, content] of contents.entries()) {
    hash.update(JSON.stringify([paths[at], content.byteLength]))
    hash.update(content)
  }
  return hash.digest('hex').slice(0, 32)
}

/** What makes an isolate's global scope: built beforehand in `dist/`, bundled from its sources elsewhere. */
export async function loadGuestScripts(root: string = installRoot()): Promise<GuestScripts> {
  const folder = join(root, 'sandbox')
  if (existsSync(join(folder, 'prelude.js'))) return readGuestScripts(folder)
  const { bundleGuest } = await import('#sandbox/guest/bundle.ts')
  return bundleGuest()
}

/** The scripts in the folder of a build. */
export async function readGuestScripts(folder: string): Promise<GuestScripts> {
  const read = (path: string): Promise<string> => readFile(join(folder, path), 'utf8')
  const parts = PART_NAMES.map(async (name) => [name, await read(`parts/${name}.js`)] as const)
  return {
    prelude: await read('prelude.js'),
    parts: Object.fromEntries(await Promise.all(parts)) as GuestScripts['parts'],
  }
}
