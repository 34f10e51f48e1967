import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { installRoot } from '#config/install-root.ts'
import { PART_NAMES, type GuestScripts } from '#sandbox/protocol/part-names.ts'

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
