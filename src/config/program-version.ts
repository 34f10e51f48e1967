import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { isJsonObject } from '#base/json-object.ts'

import { installRoot } from './install-root.ts'

/** The version of this installation's files. */
export async function programVersion(): Promise<string> {
  const parsed: unknown = JSON.parse(await readFile(join(installRoot(), 'package.json'), 'utf8'))
  const version = isJsonObject(parsed) ? parsed['version'] : undefined
  return typeof version === 'string' ? version : 'unknown'
}
