import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { codeOf } from '#base/error-code.ts'
import { isJsonObject } from '#base/json-object.ts'
import { installRoot } from '#config/install-root.ts'
import { readOperatorKey } from '#config/keys.ts'

import type { Arguments } from './command.ts'
import { CommandError, UsageError } from './errors.ts'
import type { Connection } from './service-client.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Finds the service and the operator's key, or the deploy token where a command takes one: in the options, the environment, then the service's data folder. */
export async function findConnection(
  args: Arguments,
  env: Env,
  takesDeployToken?: true,
): Promise<Connection> {
  const dataDir = dataDirOf(env)
  const base = parseUrl(
    args.text('url') ?? env['CROFT_BASE_URL'] ?? portUrl(env['PORT']) ?? (await servedUrl(dataDir)),
  )
  const named = args.text('operatorKey')
  const token = takesDeployToken && named === undefined ? await deployToken(args, env) : undefined
  if (token !== undefined) return { base, bearer: token }
  const operatorKey = named ?? env['CROFT_OPERATOR_KEY']
  return { base, bearer: await readOperatorKey(dataDir, { operatorKey }) }
}

async function deployToken(args: Arguments, env: Env): Promise<string | undefined> {
  const file = args.text('tokenFile')
  if (file === undefined) return env['CROFT_DEPLOY_TOKEN']?.trim() || undefined
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CommandError(`The file "${file}" cannot be read (${String(codeOf(cause))})`, {
      cause,
    })
  })
  const token = text.trim()
  if (token === '') throw new CommandError(`The file "${file}" holds no deploy token`)
  return token
}

const dataDirOf = (env: Env): string => {
  const given = env['CROFT_DATA_DIR']
  return given === undefined ? join(installRoot(), '.croft') : resolve(given)
}

const portUrl = (port: string | undefined): string | undefined =>
  port === undefined || port === '' ? undefined : `http://127.0.0.1:${port}`

/** `service.json` is written by the service when it listens. */
async function servedUrl(dataDir: string): Promise<string> {
  const file = join(dataDir, 'service.json')
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const code = codeOf(cause)
    throw new CommandError(
      code === 'ENOENT'
        ? `No Croft has been started with the data folder "${dataDir}": start it with "npm start", or say where it is with --url`
        : `"${file}" cannot be read (${String(code)}): run this as the user who runs Croft`,
      { cause },
    )
  })
  const url = urlIn(text)
  if (url === undefined) throw new CommandError(`"${file}" cannot be read: give --url instead`)
  return url
}

function urlIn(text: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return isJsonObject(parsed) && typeof parsed['url'] === 'string' ? parsed['url'] : undefined
  } catch {
    // A file that is not JSON is treated as one without a URL.
    return undefined
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol)) return url
  throw new UsageError(`"${text}" is not the address of a service, like http://localhost:8080`)
}
