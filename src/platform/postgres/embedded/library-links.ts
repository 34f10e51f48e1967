import { lstat, readFile, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

import { hasCode, ifMissing } from '#base/error-code.ts'

/**
 * Makes the links between shared libraries that an npm package cannot carry. The package's own install script makes
 * them too, but installs without scripts are common. False when the folder cannot be written: use a copy of it then.
 */
export async function linkLibraries(home: string): Promise<boolean> {
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
