import { denoError } from './deno-errors.ts'
import { defineOperation } from './interface.ts'
import { PromiseClass, reflectGet, slice, toText } from './primordials.ts'

const MAX_NAMED = 200

/** What of Deno needs a permission that a function does not have, by the permission. Most have a form with `Sync`. */
const REFUSED: Readonly<Record<string, string>> = {
  read: 'stat lstat readDir realPath readLink watchFs! open',
  write: `writeFile writeTextFile mkdir remove rename copyFile truncate symlink link chmod chown utime create
makeTempDir makeTempFile umask! chdir!`,
  run: 'run! kill! spawn! spawnAndWait',
  net: 'listen! listenTls! connect~ connectTls~ startTls~ resolveDns~ listenDatagram! createHttpClient!',
  sys: `hostname! osRelease! osUptime! loadavg! networkInterfaces! systemMemoryInfo! uid! gid! memoryUsage!
cpuUsage! execPath! consoleSize!`,
  ffi: 'dlopen!',
}

const ADVICE: Readonly<Record<string, string>> = {
  read: 'a function reads the files of its artifact, by Deno.readTextFile and Deno.readFile',
  write: 'keep data in a table or a bucket, by ctx.table and ctx.bucket',
  run: 'a function starts no process',
  net: 'use fetch, which asks the allowed hosts of the site',
  sys: 'a function does not see the machine that runs it',
  ffi: 'a function loads no native library',
  env: 'the environment is read-only: set the variable in the site configuration',
}

/** As Deno refuses it, with what to do instead. */
export function notCapable(permission: string, what?: unknown): Error {
  const named = what === undefined ? '' : ` to "${slice(textOf(what), 0, MAX_NAMED)}"`
  return denoError(
    'NotCapable',
    `Requires ${permission} access${named}, which a function does not have: ${ADVICE[permission]}`,
  )
}

/** Functions that are there, and refuse. */
export function refusals(): Record<string, Function> {
  const made: Record<string, Function> = {}
  for (const [permission, names] of Object.entries(REFUSED))
    for (const text of names.split(/\s+/)) addRefusal(made, permission, text)
  return made
}

function addRefusal(made: Record<string, Function>, permission: string, text: string): void {
  const name = text.replace(/[!~]$/, '')
  const refuse = (what?: unknown): never => {
    throw notCapable(permission, targetOf(what))
  }
  const reject = (what?: unknown): Promise<never> =>
    new PromiseClass((_resolve, no) => no(notCapable(permission, targetOf(what))))
  made[name] = defineOperation(name, 1, text.endsWith('!') ? refuse : reject)
  if (text === name) made[`${name}Sync`] = defineOperation(`${name}Sync`, 1, refuse)
}

/** `host:port` of options, else the first argument as text. */
function targetOf(what: unknown): unknown {
  if (typeof what !== 'object' || what === null) return what
  const port: unknown = reflectGet(what, 'port')
  if (port === undefined) return typeof reflectGet(what, 'href') === 'string' ? what : undefined
  return `${textOf(reflectGet(what, 'hostname') ?? '0.0.0.0')}:${textOf(port)}`
}

function textOf(value: unknown): string {
  try {
    return toText(value)
  } catch {
    return ''
  }
}
