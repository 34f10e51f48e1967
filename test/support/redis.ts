import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A busy machine takes its time: what answers late is no Redis that is gone. Who freezes it waits that long, once. */
export const PATIENT = { commandTimeoutMs: 3000 }

export interface TestRedis extends AsyncDisposable {
  readonly url: string
  /** Freezes the server, as a machine that hangs. Undefined when the server is not ours. */
  freeze(): void
  thaw(): void
  /** SIGKILL, and a new, empty server on the same port. */
  restart(): Promise<void>
}

/** Why Redis tests cannot run here, or undefined. In CI that is a failure, not a skip. */
export function redisMissing(): string | undefined {
  if (spawnSync('redis-server', ['--version']).status === 0) return undefined
  const why = 'The Redis tests need "redis-server" on the PATH: apt-get install redis-server'
  if (process.env['CI']) throw new Error(why)
  return why
}

/** An empty Redis of its own on a free port, without persistence. */
export async function startRedis(): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-redis-'))
  const port = await freePort()
  let server = await launch(port, folder)
  return {
    url: `redis://127.0.0.1:${port}`,
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async restart() {
      await stop(server)
      server = await launch(port, folder)
    },
    async [Symbol.asyncDispose]() {
      await stop(server)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function launch(port: number, folder: string): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (text.includes('Ready to accept connections')) resolve()
  })
  server.once('exit', () => reject(new Error('redis-server ended before it was ready')))
  await promise
  return server
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const gone = new Promise((resolve) => server.once('exit', resolve))
  server.kill('SIGKILL')
  await gone
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('No free port')
  return address.port
}
