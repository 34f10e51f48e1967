import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

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
    if (((await stat(file)).mode & 0o077) !== 0) exposedFiles.push(file)
    return key
  }
  const operatorKey = await open(secrets.operatorKey, operatorKeyFile(dataDir))
  const masterKey = await open(secrets.masterKey, masterKeyFile(dataDir))
  return { operatorKey, masterKey: decodeMasterKey(masterKey, dataDir), exposedFiles }
}

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

async function readKey(file: string): Promise<string> {
  const key = (await readFile(file, 'utf8')).trim()
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
