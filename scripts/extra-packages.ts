import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { lstat, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'

/** Folders with a lock file of their own: their packages are no part of an installation of the product. */
const FOLDERS = ['bench/packages', 'peers', 'tools'] as const
export type ExtraPackages = (typeof FOLDERS)[number]

const ROOT = resolve(import.meta.dirname, '..')
/** Written last, by a whole installation: the hash of the lock file that it follows. */
const STAMP = 'node_modules/.croft-installed'
const TOOLS = ['knip', 'oxfmt', 'oxlint', 'tsgolint']

export const isExtraPackages = (folder: string): folder is ExtraPackages =>
  (FOLDERS as readonly string[]).includes(folder)

/** Whether the packages are there as the lock file of the folder has them, and where they are looked for. */
export function arePackagesInstalled(folder: ExtraPackages): boolean {
  return isStamped(folder) && linksOf(folder).every(({ link }) => existsSync(link))
}

/** Installs the packages of the folder unless they are there. */
export async function installPackages(
  folder: ExtraPackages,
  progress: (words: string) => void,
): Promise<void> {
  if (arePackagesInstalled(folder)) return
  if (!isStamped(folder)) {
    progress(`installing ${folder}`)
    const args = ['ci', '--no-audit', '--no-fund', '--prefix', join(ROOT, folder)]
    await promisify(execFile)('npm', args, { cwd: ROOT })
  }
  for (const { link, target } of linksOf(folder)) await replaceLink(link, target)
  await writeFile(join(ROOT, folder, STAMP), lockHash(folder))
}

function isStamped(folder: ExtraPackages): boolean {
  const stamp = join(ROOT, folder, STAMP)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === lockHash(folder)
}

const lockHash = (folder: ExtraPackages): string =>
  createHash('sha256')
    .update(readFileSync(join(ROOT, folder, 'package-lock.json')))
    .digest('hex')

interface Link {
  readonly link: string
  readonly target: string
}

/**
 * Tests import the peers: the packages that the folder names, not those that they need, which must not hide the product's
 * own. The tools are programs beside those of the product.
 */
function linksOf(folder: ExtraPackages): Link[] {
  const to = (from: string, inside: string, names: readonly string[]) =>
    names.map((name) => ({
      link: join(ROOT, from, name),
      target: join(ROOT, folder, inside, name),
    }))
  if (folder === 'tools') return to('node_modules/.bin', 'node_modules/.bin', TOOLS)
  return folder === 'peers' ? to('test/node_modules', 'node_modules', namesIn(folder)) : []
}

function namesIn(folder: ExtraPackages): string[] {
  const manifest: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(ROOT, folder, 'package.json'), 'utf8'),
  )
  return Object.keys(manifest.dependencies)
}

/** What is there and no link is a package of an earlier installation. */
async function replaceLink(link: string, target: string): Promise<void> {
  const found = await lstat(link).catch(() => undefined)
  if (found !== undefined) await rm(link, { recursive: true })
  await mkdir(dirname(link), { recursive: true })
  await symlink(relative(dirname(link), target), link)
}
