import { chmod, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { hasCode, ifMissing } from '#base/error-code.ts'
import { isJsonObject } from '#base/json-object.ts'

import { createFileAtomically, makeFolderDurably, writeFileAtomically } from './atomic-file.ts'
import { processStart } from './process-identity.ts'
import { SetupError } from './setup-error.ts'

const ATTEMPTS = 250
const WAIT_MS = 20

/**
 * Creates the data folder and takes it for this process. The lock of a process that was killed is taken over; a pid that belongs
 * to another process by now is recognized by the time at which that process started.
 */
export async function lockDataDir(dataDir: string): Promise<AsyncDisposable> {
  await openFolder(dataDir)
  const file = join(dataDir, 'service.lock')
  const mine = JSON.stringify({ pid: process.pid, started: processStart(process.pid) })

  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (await take(file, mine, dataDir)) {
      return {
        async [Symbol.asyncDispose]() {
          if ((await read(file)) === mine) await rm(file, { force: true })
        },
      }
    }
    const holder = await livingHolder(file)
    if (holder !== undefined) {
      throw new SetupError(
        `The data folder "${dataDir}" is in use by the Croft of process ${holder}: ` +
          'stop that one first, or give this one another folder with CROFT_DATA_DIR',
      )
    }
    await delay(WAIT_MS)
  }
  throw new SetupError(
    `The lock "${file}" cannot be taken: remove it if no Croft runs on this folder`,
  )
}

async function take(file: string, mine: string, dataDir: string): Promise<boolean> {
  try {
    return (await createFileAtomically(file, mine)) || (await takeOver(file, mine))
  } catch (cause) {
    if (hasCode(cause, 'ENOSPC', 'EDQUOT')) throw new SetupError(noRoom(dataDir), { cause })
    if (!hasCode(cause, 'EACCES', 'EPERM', 'EROFS')) throw cause
    throw new SetupError(await notWritable(dataDir), { cause })
  }
}

const noRoom = (dataDir: string): string =>
  `The disk of the data folder "${dataDir}" is full: make room, and start again`

async function notWritable(dataDir: string): Promise<string> {
  const { uid } = await stat(dataDir)
  const mine = process.getuid?.()
  if (uid === mine) {
    return `The data folder "${dataDir}" cannot be written: make it writable, or name another with CROFT_DATA_DIR`
  }
  return (
    `The data folder "${dataDir}" belongs to uid ${uid}, and this is uid ${mine}: start Croft as the user that it belongs to, ` +
    'or give this one a folder of its own with CROFT_DATA_DIR'
  )
}

/** One process at a time replaces a dead one's lock: a second that read the same lock would remove the first's. */
async function takeOver(file: string, mine: string): Promise<boolean> {
  if ((await livingHolder(file)) !== undefined) return false
  const guard = `${file}.takeover`
  if (!(await createFileAtomically(guard, mine))) {
    if ((await livingHolder(guard)) === undefined) await rm(guard, { force: true })
    return false
  }
  try {
    if ((await livingHolder(file)) !== undefined) return false
    await writeFileAtomically(file, mine)
    return true
  } finally {
    await rm(guard, { force: true })
  }
}

async function livingHolder(file: string): Promise<number | undefined> {
  const holder = parseHolder(await read(file))
  if (!holder || processStart(holder.pid) !== holder.started) return undefined
  return holder.pid
}

function parseHolder(text: string | undefined): { pid: number; started: string } | undefined {
  if (text === undefined) return undefined
  try {
    const holder: unknown = JSON.parse(text)
    if (!isJsonObject(holder)) return undefined
    return { pid: Number(holder['pid']), started: String(holder['started']) }
  } catch {
    // A file that holds anything else locks nothing.
    return undefined
  }
}

const read = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch(ifMissing(undefined))

/** Others may pass through a new data folder, as the database's account must, but not look into it. */
async function openFolder(dataDir: string): Promise<void> {
  try {
    if ((await makeFolderDurably(dataDir)) !== undefined) await chmod(dataDir, 0o711)
  } catch (cause) {
    throw new SetupError(
      `The data folder "${dataDir}" cannot be created: make it yourself for this user, or name another with CROFT_DATA_DIR`,
      { cause },
    )
  }
}
