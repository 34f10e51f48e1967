import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** Printed after each script; no command prints it. */
const END = '\u001E'
/** Scripts come by their paths, so no command of theirs reads the next one. */
const LOOP = `while IFS= read -r script; do . "$script" </dev/null; printf '${END}'; done`
const TRACE_CHARACTERS = 6000

export interface ShellOptions {
  readonly cwd: string
  /** Where its scripts are written. */
  readonly scripts: string
  readonly env: Readonly<Record<string, string>>
}

/** One bash for scripts that are run one after the other, as if typed: variables and functions stay. It ends with the first command that fails. */
export class ShellSession implements AsyncDisposable {
  readonly #shell: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #scripts: string
  readonly #closed: Promise<unknown>
  #count = 0
  #out = ''
  #trace = ''
  #done = Promise.withResolvers<void>()

  constructor({ cwd, scripts, env }: ShellOptions) {
    this.#scripts = scripts
    this.#shell = spawn('bash', ['-euxo', 'pipefail', '-c', LOOP], {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A process group of its own, which ends as a whole.
      detached: true,
    })
    this.#closed = once(this.#shell, 'close')
    // A shell that has ended takes no script: `run` says so.
    this.#shell.stdin.on('error', () => {})
    this.#shell.stderr.setEncoding('utf8').on('data', (text: string) => (this.#trace += text))
    this.#shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text
      if (text.endsWith(END)) this.#done.resolve()
    })
  }

  /** What the script prints to stdout. Rejects with the last commands and what they said when one of them fails. */
  async run(script: string): Promise<string> {
    this.#out = ''
    this.#trace = ''
    this.#done = Promise.withResolvers()
    const path = join(this.#scripts, `${(this.#count += 1)}.sh`)
    await writeFile(path, script)
    this.#shell.stdin.write(`${path}\n`)
    await Promise.race([this.#done.promise, this.#closed])
    if (this.#out.endsWith(END)) return this.#out.slice(0, -END.length)
    throw new Error(`The shell has ended:\n${this.#trace.slice(-TRACE_CHARACTERS)}\n${this.#out}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#shell.exitCode === null && this.#shell.signalCode === null) {
      process.kill(-(this.#shell.pid ?? 0), 'SIGKILL')
    }
    await this.#closed
  }
}
