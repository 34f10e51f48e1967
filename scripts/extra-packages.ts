import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'

/** A folder with a lock file of its own: its packages are no part of an installation of the product. */
export type ExtraPackages = 'bench/packages' | 'peers'

const ROOT = resolve(import.meta.dirname, '..')
/** Where files that import such packages find them. */
const LINKED_INTO: Partial<Readonly<Record<ExtraPackages, string>>> = {
  peers: 'test/node_modules',
}
/** Written last, by a whole installation: the hash of the lock file that it follows. */
const STAMP = 'node_modules/.croft-installed'

/** Whether the packages are there as the lock file of the folder has them. */
export function arePackagesInstalled(folder: ExtraPackages): boolean {
  const stamp = join(ROOT, folder, STAMP)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === lockHash(folder)
}

/** Installs the packages of the folder unless they are there. */
export async function installPackages(
  folder: ExtraPackages,
  progress: (words: string) => void,
): Promise<void> {
  if (arePackagesInstalled(folder)) return
  progress(`installing ${folder}`)
  const args = ['ci', '--no-audit', '--no-fund', '--prefix', join(ROOT, folder)]
  await promisify(execFile)('npm', args, { cwd: ROOT })
  const links = LINKED_INTO[folder]
  if (links !== undefined) await linkInto(join(ROOT, links), folder)
  await writeFile(join(ROOT, folder, STAMP), lockHash(folder))
}

const lockHash = (folder: ExtraPackages): string =>
  createHash('sha256')
    .update(readFileSync(join(ROOT, folder, 'package-lock.json')))
    .digest('hex')

/** Links to the packages that the folder names, not to those that they need: these must not hide the product's own. */
async function linkInto(links: string, folder: ExtraPackages): Promise<void> {
  const manifest: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
    await readFile(join(ROOT, folder, 'package.json'), 'utf8'),
  )
  await rm(links, { recursive: true, force: true })
  for (const name of Object.keys(manifest.dependencies)) {
    const link = join(links, name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(relative(dirname(link), join(ROOT, folder, 'node_modules', name)), link, 'dir')
  }
}
