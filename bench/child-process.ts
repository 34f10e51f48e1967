import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

const STOP_MS = 10_000
const KEPT_LINES = 40

export interface ChildOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** Files that it finds open from descriptor 3 on. */
  readonly descriptors?: readonly number[]
}

/** A process that belongs to this run, and ends with it. */
export interface Child extends AsyncDisposable {
  readonly pid: number
  readonly process: ChildProcess
  /** The first line of its output that this accepts; rejects with the last lines it printed when it ends before. */
  line<T>(accept: (line: string) => T | undefined): Promise<T>
  /** The same among the lines that are still to come. */
  newLine<T>(accept: (line: string) => T | undefined): Promise<T>
  /** Resolves when it has ended by itself; rejects unless with code 0. */
  ended(): Promise<void>
}

export function startChild(
  command: string,
  args: readonly string[],
  { env = process.env, cwd, descriptors = [] }: ChildOptions = {},
): Child {
  const child: ChildProcess = spawn(command, args, {
    env,
    cwd,
    stdio: ['pipe', 'pipe', 'pipe', ...descriptors],
  })
  // Not `exit`: its last lines may still be on their way then.
  const closed = endOf(child, 'close')
  const exited = endOf(child, 'exit')
  const output = new Output([child.stdout, child.stderr].filter((stream) => stream !== null))
  const orFailure = <T>(found: Promise<T>): Promise<T> =>
    Promise.race([found, closed.then((reason) => Promise.reject(failure(reason)))])
  const failure = (reason = 'ended too early') =>
    new Error(`${command} ${args[0] ?? ''} ${reason}:\n${output.kept.join('\n')}`)

  return {
    pid: child.pid ?? 0,
    process: child,
    line: (accept) => orFailure(output.next(accept, output.kept)),
    newLine: (accept) => orFailure(output.next(accept, [])),
    async ended() {
      const reason = await closed
      if (reason !== undefined) throw failure(reason)
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await exited
      clearTimeout(kill)
    },
  }
}

function endOf(child: ChildProcess, event: 'exit' | 'close'): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once(event, (code: number | null, signal: string | null) => {
      resolve(code === 0 ? undefined : `ended with ${signal ?? `code ${code}`}`)
    })
  })
}

/** Keeps the last lines, and hands each to the callers that wait for one. */
class Output {
  readonly kept: string[] = []
  readonly #waiting = new Set<(line: string) => void>()

  constructor(streams: readonly Readable[]) {
    for (const input of streams) {
      createInterface({ input }).on('line', (line) => {
        this.kept.push(line)
        if (this.kept.length > KEPT_LINES) this.kept.shift()
        for (const take of this.#waiting) take(line)
      })
    }
  }

  next<T>(accept: (line: string) => T | undefined, already: readonly string[]): Promise<T> {
    return new Promise((resolve) => {
      const take = (line: string) => {
        const found = accept(line)
        if (found === undefined) return
        this.#waiting.delete(take)
        resolve(found)
      }
      this.#waiting.add(take)
      for (const line of already) take(line)
    })
  }
}
