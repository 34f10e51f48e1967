import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

import { inject } from 'vitest'

import { processCommand } from '#config/process-identity.ts'

import { type Answer, type Call, request } from './http-client.ts'
import { type RunningProcess, childrenOf, isRunning } from './process-table.ts'
import { sandboxProgram } from './sandbox-processes.ts'

const POLL_MS = 20
const START_MS = 45_000
const END_MS = 40_000
/** Below the range from which systems give ports to outgoing connections. */
const PORTS = { first: 20_000, count: 12_000 }

export interface CroftOptions {
  readonly dataDir: string
  readonly port?: number
  readonly on?: 'bun' | 'node' | 'deno'
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
  /** The installation; the build of this run when left out. */
  readonly root?: string
  /** What starts it there; `croft serve` when left out. */
  readonly command?: readonly string[]
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The real program, run as an operator runs it: `croft serve`, in a process group of its own as under a shell. */
export class CroftProcess implements AsyncDisposable {
  readonly port: number
  readonly dataDir: string
  /** All that it has printed, log lines included. */
  output = ''
  readonly exited: Promise<Exit>
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  #seen: readonly RunningProcess[] = []

  private constructor(port: number, options: CroftOptions) {
    const { dataDir, on, env, uid, command, root = inject('builtProgram') } = options
    this.port = port
    this.dataDir = dataDir
    const serve = ['serve', ...(on === undefined ? [] : ['--on', on])]
    const [program = '', ...args] = command ?? [
      process.execPath,
      join(root, 'bin/croft.js'),
      ...serve,
    ]
    this.#child = spawn(program, args, {
      cwd: root,
      env: { ...environmentOf({ port, dataDir }), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...(uid === undefined ? {} : { uid, gid: uid }),
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    }
    this.exited = once(this.#child, 'close').then(([code, signal]) => ({ code, signal }))
  }

  /** Returns at once. */
  static async launch(options: CroftOptions): Promise<CroftProcess> {
    return new CroftProcess(options.port ?? (await freePort()), options)
  }

  /** Resolves when `/readyz` says so. The first site, if this start makes it, may come later. */
  static async start(options: CroftOptions): Promise<CroftProcess> {
    const croft = await CroftProcess.launch(options)
    try {
      await croft.ready()
      return croft
    } catch (error) {
      await croft[Symbol.asyncDispose]()
      throw error
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get #lastWords(): string {
    return this.output.slice(-4000)
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Sends the signal again and again until it has ended; false when it has not by then. */
  async signalUntilOver(signal: NodeJS.Signals, withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs
    while (!this.isOver && performance.now() < deadline) {
      this.signal(signal)
      await delay(POLL_MS)
    }
    return this.isOver
  }

  /** The parsed lines of its log. */
  get log(): Record<string, unknown>[] {
    const lines = this.output.split('\n').filter((line) => line.startsWith('{'))
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  async ready(): Promise<void> {
    await this.until('/readyz answers', () => this.isReady())
  }

  async isReady(): Promise<boolean> {
    const answer = await this.call({ path: '/readyz' }).catch(() => undefined)
    return answer?.status === 200
  }

  /** Polls; fails when the process ends before, or after 45 s. */
  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = performance.now() + START_MS
    while (!(await holds())) {
      if (this.isOver) throw new Error(`Croft ended before ${what}:\n${this.#lastWords}`)
      if (performance.now() > deadline) throw new Error(`Not in time: ${what}:\n${this.#lastWords}`)
      await delay(POLL_MS)
    }
  }

  printed(words: string): Promise<void> {
    return this.until(`it printed "${words}"`, () => this.output.includes(words))
  }

  call(call: Omit<Call, 'port'>): Promise<Answer> {
    return request({ port: this.port, host: 'localhost', ...call })
  }

  hello(name: string, host = 'localhost'): Promise<Answer> {
    const body = { payload: { name } }
    return this.call({ host, method: 'POST', path: '/data/public/hello', body })
  }

  /** Its own command line, now that `bin/croft.js` has become the service. */
  command(): string {
    return processCommand(this.pid)
  }

  /** What it has started and what that has started, now. */
  processes(): RunningProcess[] {
    const found = childrenOf(this.pid)
    this.#seen = [...this.#seen, ...found]
    return found
  }

  sandboxHosts(): RunningProcess[] {
    return this.processes().filter((one) => sandboxProgram(one) === 'host')
  }

  postgres(): RunningProcess | undefined {
    return this.processes().find(({ command }) => command.includes('bin/postgres -D'))
  }

  signal(name: NodeJS.Signals): void {
    process.kill(this.pid, name)
  }

  /** Sends SIGTERM and waits for the end. */
  async stop(): Promise<Exit> {
    this.processes()
    this.signal('SIGTERM')
    return this.ended()
  }

  /** Its end, in order or not; fails when it takes longer than a service may. */
  async ended(): Promise<Exit> {
    const late = new AbortController()
    const timeout = delay(END_MS, undefined, { signal: late.signal }).then(() => {
      throw new Error(`Croft does not end:\n${this.#lastWords}`)
    })
    timeout.catch(() => {})
    try {
      return await Promise.race([this.exited, timeout])
    } finally {
      late.abort()
    }
  }

  /** Ends the service alone, at an instant in which it starts nothing; gives what it leaves behind. */
  async kill(): Promise<RunningProcess[]> {
    this.signal('SIGSTOP')
    const left = this.processes()
    this.signal('SIGKILL')
    await once(this.#child, 'exit')
    return left
  }

  /** What still runs of all that was ever seen under it. */
  leftovers(): RunningProcess[] {
    return this.#seen.filter(isRunning)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isOver) await this.kill()
    for (const left of this.leftovers()) {
      try {
        process.kill(left.pid, left.command.includes('bin/postgres -D') ? 'SIGQUIT' : 'SIGKILL')
      } catch {
        // It has ended.
      }
    }
    while (this.leftovers().length > 0) await delay(POLL_MS)
  }
}

/** Nothing of the environment of the tests but what finds programs. */
export function environmentOf(of: { port: number; dataDir: string }): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    PORT: String(of.port),
    SMTP_PORT: '0',
    SUBMISSION_PORT: '0',
    CROFT_DATA_DIR: of.dataDir,
  }
}

export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count)
    const server = createServer()
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (free) return port
  }
}
