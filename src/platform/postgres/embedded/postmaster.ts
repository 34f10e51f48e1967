import { spawn } from 'node:child_process'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { isAlive } from '#config/process-identity.ts'
import { SetupError } from '#config/setup-error.ts'

import { spawnOptions } from './account.ts'
import { program } from './binaries.ts'
import type { Placement } from './placement.ts'
import { findPostmaster } from './postmaster-file.ts'

const ATTEMPTS = 5
const POLL_MS = 10
const ADOPTED_POLL_MS = 1000
/** Recovery after a power cut replays at most `max_wal_size`; this is far more than that takes. */
const START_TIMEOUT_MS = 120_000
const LOG_LIMIT_BYTES = 10 * 1024 * 1024

/** Settings for one service on one machine: little memory, and everything durable. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '60',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  huge_pages: 'off',
  io_method: 'sync',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  log_checkpoints: 'off',
  // The sender of a statement gets the reason of its refusal, and there may be very many.
  log_min_error_statement: 'panic',
  log_timezone: 'UTC',
  timezone: 'UTC',
} as const

export interface Postmaster {
  readonly pid: number
  readonly port: number
  /** True when it was already running: the service before this one was killed. */
  readonly adopted: boolean
  /** Resolves when it has ended, however. */
  readonly exited: Promise<PostmasterExit>
}

/** Nothing is known of the end of an adopted one: the system tells it only to those who started a process. */
export interface PostmasterExit {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

export interface PostmasterOptions {
  readonly settings?: Readonly<Record<string, string>> | undefined
  /** One that is free when left out. */
  readonly port?: number
  /** Gives the start up, and ends what it has started. */
  readonly signal?: AbortSignal
}

/** Starts the server of this cluster, or finds the one that an earlier, killed service left running. */
export async function startPostmaster(
  placement: Placement,
  options: PostmasterOptions = {},
): Promise<Postmaster> {
  const adopted = await adopt(placement.cluster)
  if (adopted) return { ...adopted, adopted: true, exited: endOfAdopted(adopted.pid) }

  await rotateLog(placement.logFile)
  let reason = ''
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    options.signal?.throwIfAborted()
    const port = options.port ?? (await freePort())
    const started = await launch(placement, port, options)
    if (started.pid !== undefined)
      return { pid: started.pid, port, adopted: false, exited: started.ended }
    reason = started.reason
    // Another program may have taken the port in between; nothing else gets better by trying again.
    if (options.port !== undefined || !reason.includes('could not bind')) break
  }
  throw new SetupError(
    `The embedded PostgreSQL in "${placement.cluster}" does not start; the end of "${placement.logFile}" says:\n${reason}`,
  )
}

/** Fast shutdown: sessions are cut, everything committed is on disk. */
export const STOP_SIGNAL = 'SIGINT'

/** Resolves when the server has ended. */
export async function stopPostmaster(cluster: string): Promise<void> {
  const running = await findPostmaster(cluster)
  if (!running) return
  process.kill(running.pid, STOP_SIGNAL)
  while (await findPostmaster(cluster)) await delay(POLL_MS)
}

async function adopt(cluster: string): Promise<{ pid: number; port: number } | undefined> {
  const deadline = performance.now() + START_TIMEOUT_MS
  while (performance.now() < deadline) {
    const running = await findPostmaster(cluster)
    if (!running) {
      // Without a living server behind it the file only keeps a new one from starting.
      await rm(join(cluster, 'postmaster.pid'), { force: true })
      return undefined
    }
    if (running.status === 'ready') return running
    await delay(POLL_MS)
  }
  throw new SetupError(
    `The PostgreSQL that already runs on "${cluster}" gets neither ready nor away: see its log beside it, stop it, start again`,
  )
}

async function endOfAdopted(pid: number): Promise<PostmasterExit> {
  while (isAlive(pid)) await delay(ADOPTED_POLL_MS, undefined, { ref: false })
  return { exitCode: null, signal: null }
}

async function launch(
  placement: Placement,
  port: number,
  { settings, signal }: PostmasterOptions,
): Promise<{ pid: number | undefined; reason: string; ended: Promise<PostmasterExit> }> {
  const log = await open(placement.logFile, 'a', 0o600)
  const logStart = (await log.stat()).size
  try {
    const child = spawn(
      program(placement.binaries, 'postgres'),
      [
        '-D',
        placement.cluster,
        ...Object.entries({ ...SETTINGS, ...settings, port: String(port) }).flatMap(
          ([name, value]) => ['-c', `${name}=${value}`],
        ),
      ],
      // A session of its own: Ctrl-C in the terminal is for the service, which still needs its database to drain.
      { ...spawnOptions(placement.account), detached: true, stdio: ['ignore', log.fd, log.fd] },
    )
    const ended = new Promise<PostmasterExit>((resolve) =>
      child.once('exit', (exitCode, endSignal) => resolve({ exitCode, signal: endSignal })),
    )
    const failed = new Promise<never>((_, reject) => child.once('error', reject))
    const pid = await Promise.race([failed, waitUntilReady(placement.cluster, child.pid, signal)])
    if (pid === undefined && signal?.aborted) {
      child.kill('SIGINT')
      await ended
    }
    child.unref()
    return { pid, reason: pid === undefined ? await tail(placement.logFile, logStart) : '', ended }
  } finally {
    await log.close()
  }
}

async function waitUntilReady(
  cluster: string,
  pid: number | undefined,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const deadline = performance.now() + START_TIMEOUT_MS
  while (pid !== undefined && !signal?.aborted && performance.now() < deadline) {
    const running = await findPostmaster(cluster)
    if (running?.pid === pid && running.status === 'ready') return pid
    if (!isAlive(pid)) return undefined
    await delay(POLL_MS)
  }
  return undefined
}

async function tail(logFile: string, from: number): Promise<string> {
  return (await readFile(logFile, 'utf8')).slice(from).slice(-2000).trim()
}

async function rotateLog(logFile: string): Promise<void> {
  const size = await stat(logFile).then(
    (file) => file.size,
    () => 0,
  )
  if (size > LOG_LIMIT_BYTES) await rename(logFile, `${logFile}.1`)
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
