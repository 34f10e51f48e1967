import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { hasCode, ifMissing } from '#base/error-code.ts'

import { createFileAtomically } from './atomic-file.ts'
import type { Secrets } from './config.ts'
import { SetupError } from './setup-error.ts'

/** The installation's two keys, from the environment or from the data folder. */
export interface InstanceKeys {
  /** What `/portal/api` asks for. */
  readonly operatorKey: string
  /** 32 bytes; seals everything secret. */
  readonly masterKey: Buffer
  /** Key files that others than their owner may read. */
  readonly exposedFiles: readonly string[]
}

const operatorKeyFile = (dataDir: string): string => join(dataDir, 'operator.key')
const masterKeyFile = (dataDir: string): string => join(dataDir, 'master.key')

/** Generates the keys that are neither set nor stored. Two processes that start at once agree on the same keys. */
export async function openKeys(
  dataDir: string,
  secrets: Pick<Secrets, 'operatorKey' | 'masterKey'>,
): Promise<InstanceKeys> {
  const exposedFiles: string[] = []
  const open = async (given: string | undefined, file: string): Promise<string> => {
    if (given !== undefined) return given
    await createFileAtomically(file, `${randomBytes(32).toString('base64url')}\n`)
    const key = await readKey(file)
    if (await isExposed(file)) exposedFiles.push(file)
    return key
  }
  const operatorKey = await open(secrets.operatorKey, operatorKeyFile(dataDir))
  if (secrets.masterKey === undefined) await assertNotLost(dataDir)
  const masterKey = await open(secrets.masterKey, masterKeyFile(dataDir))
  return { operatorKey, masterKey: decodeMasterKey(masterKey, dataDir), exposedFiles }
}

/** Key files of a data folder that others than their owner may read. */
export async function exposedKeyFiles(dataDir: string): Promise<readonly string[]> {
  const exposed: string[] = []
  for (const file of [operatorKeyFile(dataDir), masterKeyFile(dataDir)]) {
    if (await isExposed(file).catch(ifMissing(false))) exposed.push(file)
  }
  return exposed
}

const isExposed = async (file: string): Promise<boolean> => ((await stat(file)).mode & 0o077) !== 0

/** Reads the key that a service on this data folder asks for. The command line uses it. */
export async function readOperatorKey(
  dataDir: string,
  secrets: Pick<Secrets, 'operatorKey'>,
): Promise<string> {
  if (secrets.operatorKey !== undefined) return secrets.operatorKey
  const file = operatorKeyFile(dataDir)
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new SetupError(
      `The operator key in "${file}" cannot be read: start the service first, run this as the same user, ` +
        'or set CROFT_OPERATOR_KEY to the key that the service uses',
      { cause },
    )
  })
  return text.trim()
}

export const hasMasterKey = async (
  dataDir: string,
  secrets: Pick<Secrets, 'masterKey'>,
): Promise<boolean> => secrets.masterKey !== undefined || isThere(masterKeyFile(dataDir))

/** Reads the key that seals the secrets of an installation, and makes none. */
export async function readMasterKey(
  dataDir: string,
  secrets: Pick<Secrets, 'masterKey'>,
): Promise<Buffer> {
  const file = masterKeyFile(dataDir)
  if (!(await hasMasterKey(dataDir, secrets))) {
    throw new SetupError(
      `There is no master key: set CROFT_MASTER_KEY, or put the file "master.key" of the installation to "${file}"`,
    )
  }
  return decodeMasterKey(secrets.masterKey ?? (await readKey(file)), dataDir)
}

/** A new key would open nothing of a database that is there already. */
async function assertNotLost(dataDir: string): Promise<void> {
  const file = masterKeyFile(dataDir)
  if ((await isThere(file)) || !(await isThere(join(dataDir, 'postgres/password')))) return
  throw new SetupError(
    `The master key of the database in "${dataDir}" is missing: put "${file}" back from a backup, or set CROFT_MASTER_KEY to it. ` +
      'Without that key the secrets in the database cannot be opened',
  )
}

const isThere = (path: string): Promise<boolean> => stat(path).then(() => true, ifMissing(false))

async function readKey(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    if (!hasCode(cause, 'EACCES', 'EPERM')) throw cause
    throw new SetupError(
      `The key in "${file}" may not be read by this user: start Croft as the user that the file belongs to`,
      { cause },
    )
  })
  const key = text.trim()
  if (/^[\x21-\x7e]{24,512}$/.test(key)) return key
  throw new SetupError(`"${file}" holds no key: put it back from a backup`)
}

function decodeMasterKey(text: string, dataDir: string): Buffer {
  const key = Buffer.from(text, 'base64url')
  if (key.length === 32) return key
  throw new SetupError(
    `"${masterKeyFile(dataDir)}" is not 32 bytes in base64: put it back from a backup`,
  )
}
