import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { installRoot } from '#config/install-root.ts'

/** The script that makes an isolate's global scope: built beforehand in `dist/`, bundled from its sources elsewhere. */
export async function loadPrelude(root: string = installRoot()): Promise<string> {
  const built = join(root, 'sandbox', 'prelude.js')
  if (existsSync(built)) return readFile(built, 'utf8')
  const { bundlePrelude } = await import('#sandbox/guest/bundle.ts')
  return bundlePrelude()
}
