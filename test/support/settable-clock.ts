import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { findBinaries, program } from '#platform/postgres/embedded/binaries.ts'

import { freePort } from './croft-process.ts'
import { openFolder } from './temporary-folder.ts'

const LIBRARIES = ['x86_64', 'aarch64'].map(
  (machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`,
)
/** PostgreSQL refuses to run as root. */
const NOBODY = { uid: 65534, gid: 65534 }
const STOPPED_WITHIN_MS = 10_000

/** Why clocks cannot be set here, or undefined. */
export function faketimeMissing(): string | undefined {
  if (LIBRARIES.some(existsSync)) return undefined
  return 'The tests of clocks need libfaketime: apt-get install faketime'
}

/** What programs that are started with `env` take for the time; their steady clock stays as it is. */
export class SettableClock {
  readonly env: Readonly<Record<string, string>>
  readonly #file: string

  private constructor(file: string) {
    this.#file = file
    this.env = {
      LD_PRELOAD: LIBRARIES.find(existsSync) ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    }
    this.set(0)
  }

  static async create(cleanUp: AsyncDisposableStack): Promise<SettableClock> {
    const folder = await openFolder(cleanUp, 'croft-clock-')
    return new SettableClock(join(folder, 'offset'))
  }

  /** That many seconds from the machine's time, within a second. */
  set(seconds: number): void {
    writeFileSync(this.#file, seconds < 0 ? `${seconds}s` : `+${seconds}s`)
  }
}

/** An empty server that uses that clock. Gives the superuser's URL. */
export async function startPostgresBy(
  clock: SettableClock,
  cleanUp: AsyncDisposableStack,
): Promise<string> {
  const folder = await openFolder(cleanUp, 'croft-clocked-postgres-')
  const cluster = join(folder, 'cluster')
  await mkdir(cluster, { mode: 0o700 })
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chown(cluster, NOBODY.uid, NOBODY.gid)
  const account = isRoot ? NOBODY : {}
  const binaries = findBinaries()
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
  const args = ['-D', cluster, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C']
  const made = spawnSync(program(binaries, 'initdb'), args, { env, ...account, encoding: 'utf8' })
  if (made.status !== 0) throw new Error(made.stderr)
  const port = await freePort()
  const server = spawn(
    program(binaries, 'postgres'),
    ['-D', cluster, '-p', String(port), '-k', '', '-c', 'listen_addresses=127.0.0.1'],
    { env: { ...env, ...clock.env }, ...account, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  cleanUp.defer(() => stop(server))
  await accepting(server)
  return `postgres://postgres@127.0.0.1:${port}/postgres`
}

async function accepting(server: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let printed = ''
  server.stderr?.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    if (printed.includes('ready to accept connections')) resolve()
  })
  server.once('exit', () => reject(new Error(`PostgreSQL ended:\n${printed.slice(-2000)}`)))
  await promise
}

/** At once, but in order: what it leaves behind is deleted. */
async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const gone = new Promise((resolve) => server.once('exit', resolve))
  server.kill('SIGQUIT')
  const late = setTimeout(() => server.kill('SIGKILL'), STOPPED_WITHIN_MS)
  await gone
  clearTimeout(late)
}
