import { randomBytes } from 'node:crypto'
import {
  chmod,
  chown,
  cp,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  lstat,
  symlink,
} from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

import { hasCode, ifMissing } from '#base/error-code.ts'
import { makeFolderDurably, writeFileAtomically } from '#config/atomic-file.ts'
import { SetupError } from '#config/setup-error.ts'

import { type Account, accountFor, canReach, runAs } from './account.ts'
import { type Binaries, program } from './binaries.ts'

/** Where databases go that the account of the database cannot reach in the data folder. */
const ELSEWHERE = '/var/lib/croft'

/** Where the parts of one embedded database are and who runs it. */
export interface Placement {
  readonly account: Account | undefined
  readonly binaries: Binaries
  /** PostgreSQL's own data folder; may not exist yet, its parent does. */
  readonly cluster: string
  readonly passwordFile: string
  readonly logFile: string
}

export interface PlacementOptions {
  readonly dataDir: string
  readonly binaries: Binaries
  readonly elsewhere?: string
}

/** Decides once, at first start, and finds the same place again on every later one. */
export async function choosePlacement(options: PlacementOptions): Promise<Placement> {
  const elsewhere = options.elsewhere ?? ELSEWHERE
  const home = join(options.dataDir, 'postgres')
  await makeFolder(home)

  const parent = await findParent(await realpath(home), elsewhere)
  const cluster = join(parent, 'cluster')
  const owner = await ownerOf(cluster)
  if (owner && process.getuid && ![0, owner.uid].includes(process.getuid())) {
    throw new SetupError(
      `The database in "${cluster}" belongs to uid ${owner.uid}; start it as that user or as root, as on its first start: ` +
        'start it like that again, or give this start a data folder of its own with CROFT_DATA_DIR',
    )
  }
  const account = accountFor(owner)
  return {
    account,
    cluster,
    binaries: await runnable(options.binaries, account, [home, elsewhere]),
    passwordFile: join(home, 'password'),
    logFile: join(home, 'postgres.log'),
  }
}

async function findParent(home: string, elsewhere: string): Promise<string> {
  const locationFile = join(home, 'location')
  const recorded = await readFile(locationFile, 'utf8').catch(ifMissing(undefined))
  if (recorded !== undefined) return recorded.trim()

  const owner = await ownerOf(join(home, 'cluster'))
  const account = accountFor(owner)
  if (await suits(home, account)) return home
  if (owner) {
    throw new SetupError(
      `The database in "${home}" cannot be reached by the account that owns it (uid ${account?.uid}): ` +
        'let that account through the folders above it again (chmod o+x)',
    )
  }
  const parent = join(elsewhere, randomBytes(8).toString('hex'))
  await makeFolder(parent)
  if (!(await suits(parent, account))) {
    throw new SetupError(
      `PostgreSQL does not run as root, and uid ${account?.uid} can use neither "${home}" nor "${parent}": ` +
        'start Croft as a user of its own, or set DATABASE_URL',
    )
  }
  await writeFileAtomically(locationFile, `${parent}\n`)
  return parent
}

/** Makes a folder that other accounts can pass but not list, whatever the umask. */
async function makeFolder(path: string): Promise<void> {
  const first = await makeFolderDurably(path)
  if (first === undefined) return
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) {
    await chmod(folder, 0o711)
  }
}

/** Whether the account can keep a folder of its own in this one. */
async function suits(folder: string, account: Account | undefined): Promise<boolean> {
  if (account === undefined) return true
  const probe = await mkdtemp(join(folder, 'probe-'))
  try {
    await chown(probe, account.uid, account.gid)
    return await canReach(account, probe)
  } catch (error) {
    if (hasCode(error, 'EPERM', 'EINVAL', 'EROFS')) return false
    throw error
  } finally {
    await rmdir(probe)
  }
}

/** The binaries as installed when the account can run them, else a copy made once. */
async function runnable(
  binaries: Binaries,
  account: Account | undefined,
  folders: readonly string[],
): Promise<Binaries> {
  if ((await linkLibraries(binaries.home)) && (await runs(binaries, account))) return binaries
  for (const folder of folders) {
    const copy = { ...binaries, home: join(folder, `postgresql-${binaries.version}`, 'native') }
    if (!(await ownerOf(copy.home))) await copyBinaries(binaries, join(copy.home, '..'))
    if (await runs(copy, account)) return copy
    await rm(join(copy.home, '..'), { recursive: true, force: true })
  }
  const { output } = await runAs(account, program(binaries, 'postgres'), ['--version']).catch(
    (error: unknown) => ({ output: String(error) }),
  )
  throw new SetupError(
    `The embedded PostgreSQL in "${binaries.home}" does not run here (${output.trim()}): ` +
      'set DATABASE_URL to a PostgreSQL 15 or newer, as in DATABASE_URL=postgres://croft:secret@127.0.0.1:5432/croft',
  )
}

async function runs(binaries: Binaries, account: Account | undefined): Promise<boolean> {
  try {
    return (await runAs(account, program(binaries, 'postgres'), ['--version'])).exitCode === 0
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM', 'ENOENT')) return false
    throw error
  }
}

/** Whole or not at all, and readable by everyone: the source may be private to one user. */
async function copyBinaries(binaries: Binaries, target: string): Promise<void> {
  const unfinished = `${target}.${process.pid}`
  await cp(binaries.home, join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true })
  await linkLibraries(join(unfinished, 'native'))
  await chmod(unfinished, 0o755)
  for (const entry of await readdir(unfinished, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const isProgram = entry.isDirectory() || entry.parentPath.endsWith('/bin')
    await chmod(join(entry.parentPath, entry.name), isProgram ? 0o755 : 0o644)
  }
  try {
    await rename(unfinished, target)
  } catch (error) {
    // Someone else finished first.
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error
    await rm(unfinished, { recursive: true, force: true })
  }
}

const ownerOf = (path: string): Promise<Account | undefined> =>
  stat(path).then(({ uid, gid }) => ({ uid, gid }), ifMissing(undefined))

/**
 * Makes the links between shared libraries that an npm package cannot carry. The package's own install script makes
 * them too, but installs without scripts are common. False when the folder cannot be written: use a copy of it then.
 */
async function linkLibraries(home: string): Promise<boolean> {
  for (const { source, target } of await readLinks(home)) {
    const path = join(home, '..', target)
    if (await exists(path)) continue
    try {
      await symlink(relative(dirname(target), source), path)
    } catch (error) {
      if (hasCode(error, 'EEXIST')) continue
      if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return false
      throw error
    }
  }
  return true
}

async function readLinks(home: string): Promise<{ source: string; target: string }[]> {
  const text = await readFile(join(home, 'pg-symlinks.json'), 'utf8').catch(ifMissing('[]'))
  const links: unknown = JSON.parse(text)
  if (!Array.isArray(links)) throw new Error('pg-symlinks.json is not a list')
  return links.map((link: { source?: unknown; target?: unknown }) => ({
    source: String(link.source),
    target: String(link.target),
  }))
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )
