import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { isJsonObject } from '#base/json-object.ts'

import { SetupError } from './setup-error.ts'

/** The folder that holds `migrations/` and Croft's package.json, whether this runs from `src/` or from a built `dist/`. */
export function installRoot(from: string = import.meta.dirname): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (isRoot(folder)) return folder
    if (dirname(folder) === folder) {
      throw new SetupError(
        `No folder above "${from}" holds "migrations" and Croft's "package.json": keep both beside the program`,
      )
    }
  }
}

function isRoot(folder: string): boolean {
  const manifest = join(folder, 'package.json')
  if (!existsSync(join(folder, 'migrations')) || !existsSync(manifest)) return false
  const parsed: unknown = JSON.parse(readFileSync(manifest, 'utf8'))
  return isJsonObject(parsed) && parsed['name'] === 'croft'
}
