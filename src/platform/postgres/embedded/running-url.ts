import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'

import { ifMissing } from '#base/error-code.ts'

import { findPostmaster } from './postmaster-file.ts'

/** Where the embedded database of this data folder is to be reached; undefined while none runs. Contains the superuser's password. */
export async function runningEmbeddedUrl(dataDir: string): Promise<string | undefined> {
  const home = join(dataDir, 'postgres')
  const location = await readFile(join(home, 'location'), 'utf8').catch(ifMissing(undefined))
  const parent = location?.trim() ?? (await realpath(home).catch(ifMissing(home)))
  const running = await findPostmaster(join(parent, 'cluster'))
  if (running?.status !== 'ready') return undefined
  const password = await readFile(join(home, 'password'), 'utf8')
  return `postgres://postgres:${password.trim()}@127.0.0.1:${running.port}/postgres`
}
