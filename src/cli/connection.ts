import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { codeOf } from '#base/error-code.ts'
import { isJsonObject } from '#base/json-object.ts'
import { installRoot } from '#config/install-root.ts'
import { readOperatorKey } from '#config/keys.ts'

import type { Arguments } from './command.ts'
import { CommandError, UsageError } from './errors.ts'
import { namedText } from './named-file.ts'
import type { Connection, Credential } from './service-client.ts'

/** Addresses to listen on that are none to connect to. */
const EVERYWHERE: ReadonlySet<string> = new Set(['', '0.0.0.0', '::'])

const SERVICE_FILE = 'service.json'

type Env = Readonly<Record<string, string | undefined>>

/** Finds the service and the operator's key, or the deploy token where a command takes one: in the options, the environment, then the service's data folder. */
export async function findConnection(
  args: Arguments,
  env: Env,
  takesDeployToken?: true,
): Promise<Connection> {
  const dataDir = dataDirOf(env)
  const named = args.text('operatorKey')
  const operatorKey = named ?? env['CROFT_OPERATOR_KEY']
  const token = takesDeployToken && named === undefined ? await deployToken(args, env) : undefined
  const { url, operatorUrl = url } = await addressesOf(args, env, dataDir)
  const base = parseUrl(url)
  // A deploy token comes from outside, where the operator's listener is not reached.
  if (token !== undefined) return { base, portal: base, ...token }
  if (!takesDeployToken) refuseDeployToken(args, env, operatorKey)
  const bearer = await readOperatorKey(dataDir, { operatorKey })
  const source = keySource({ named, operatorKey }, dataDir)
  return {
    base,
    portal: parseUrl(operatorUrl),
    bearer,
    credential: { kind: 'operator key', source },
  }
}

interface Addresses {
  readonly url: string
  /** Of the operator's own listener. */
  readonly operatorUrl?: string | undefined
}

/** Where the service is. Who says where with an option means all of it, unless both are said. */
async function addressesOf(args: Arguments, env: Env, dataDir: string): Promise<Addresses> {
  const url = args.text('url')
  const operatorUrl = args.text('operatorUrl')
  if (url !== undefined) return { url, operatorUrl }
  const baseUrl = env['CROFT_BASE_URL']
  const here = baseUrl === undefined ? undefined : await runningHere(dataDir, baseUrl)
  if (here !== undefined) {
    return { url: here.url, operatorUrl: operatorUrl ?? here.operatorUrl }
  }
  const known = baseUrl ?? portUrl(env['PORT'])
  const operatorPort = portUrl(env['OPERATOR_PORT'], env['OPERATOR_HOST'])
  if (known !== undefined) return { url: known, operatorUrl: operatorUrl ?? operatorPort }
  if (operatorUrl !== undefined) return { url: operatorUrl }
  const served = await servedAddresses(dataDir)
  return { url: served.url, operatorUrl: operatorPort ?? served.operatorUrl }
}

function keySource(
  { named, operatorKey }: Readonly<Record<'named' | 'operatorKey', string | undefined>>,
  dataDir: string,
): string {
  if (named !== undefined) return '--operator-key'
  return operatorKey === undefined ? `the data folder "${dataDir}"` : 'CROFT_OPERATOR_KEY'
}

async function deployToken(
  args: Arguments,
  env: Env,
): Promise<Pick<Connection, 'bearer' | 'credential'> | undefined> {
  const file = args.text('tokenFile')
  if (file === undefined) {
    const bearer = tokenIn(env)
    return bearer === '' ? undefined : { bearer, credential: tokenFrom('CROFT_DEPLOY_TOKEN') }
  }
  const text = await namedText(file)
  const token = text.trim()
  if (token === '') throw new CommandError(`The file "${file}" holds no deploy token`)
  return { bearer: token, credential: tokenFrom(`the file "${file}"`) }
}

/** A caller who gives a token and no key is not given the key of the data folder, which opens everything. */
function refuseDeployToken(args: Arguments, env: Env, operatorKey: string | undefined): void {
  const isNamed = args.text('tokenFile') !== undefined
  if (!isNamed && (tokenIn(env) === '' || operatorKey !== undefined)) return
  const source = isNamed ? '--token-file' : 'CROFT_DEPLOY_TOKEN'
  throw new CommandError(
    `This takes the operator key, and not the deploy token from ${source}: no scope of a token (deploy, logs, iac) is for this. Give the key with --operator-key or CROFT_OPERATOR_KEY`,
  )
}

const tokenIn = (env: Env): string => env['CROFT_DEPLOY_TOKEN']?.trim() ?? ''

const tokenFrom = (source: string): Credential => ({ kind: 'deploy token', source })

const dataDirOf = (env: Env): string => {
  const given = env['CROFT_DATA_DIR']
  return given === undefined ? join(installRoot(), '.croft') : resolve(given)
}

function portUrl(port: string | undefined, host = '127.0.0.1'): string | undefined {
  if (port === undefined || port === '' || port === '0') return undefined
  const name = EVERYWHERE.has(host) ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** Of the service of this data folder, when it runs and has that public address: DNS, proxy and TLS may come later. */
async function runningHere(dataDir: string, baseUrl: string): Promise<Addresses | undefined> {
  // A folder of another user or of no service, or a damaged file: then the public address is as good as any.
  const text = await readFile(join(dataDir, SERVICE_FILE), 'utf8').catch(() => undefined)
  const served = text === undefined ? undefined : addressesIn(text)
  if (served?.baseUrl === undefined || served.pid === undefined) return undefined
  if (!URL.canParse(baseUrl) || !URL.canParse(served.baseUrl)) return undefined
  if (new URL(baseUrl).origin !== new URL(served.baseUrl).origin) return undefined
  return isAlive(served.pid) ? served : undefined
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** `service.json` is written by the service when it listens. */
async function servedAddresses(dataDir: string): Promise<Served> {
  const file = join(dataDir, SERVICE_FILE)
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const code = codeOf(cause)
    throw new CommandError(
      code === 'ENOENT'
        ? `No Croft has been started with the data folder "${dataDir}": start it (npm start, or systemctl start croft), or say where it is with --url`
        : `"${file}" cannot be read (${String(code)}): run this as the user who runs Croft`,
      { cause },
    )
  })
  const addresses = addressesIn(text)
  if (addresses === undefined)
    throw new CommandError(`"${file}" cannot be read: give --url instead`)
  return addresses
}

interface Served extends Addresses {
  readonly baseUrl: string | undefined
  readonly pid: number | undefined
}

function addressesIn(text: string): Served | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    if (!isJsonObject(parsed)) return undefined
    const { url, operatorUrl, baseUrl, pid } = parsed
    if (typeof url !== 'string') return undefined
    return {
      url,
      operatorUrl: typeof operatorUrl === 'string' ? operatorUrl : undefined,
      baseUrl: typeof baseUrl === 'string' ? baseUrl : undefined,
      pid: typeof pid === 'number' ? pid : undefined,
    }
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
