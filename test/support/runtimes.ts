import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

import { denoBinary } from '#sandbox/guest/testing/deno.ts'

const require = createRequire(import.meta.url)

/** How each runtime starts a TypeScript file; absolute paths, because inside Bun the name `node` means Bun. */
const RUNTIMES = {
  bun: () => [require.resolve('bun/package.json').replace('package.json', 'bin/bun.exe')],
  node: () => [process.execPath],
  deno: () => [denoBinary(), 'run', '--allow-all', '--quiet'],
} as const satisfies Record<string, () => readonly [string, ...string[]]>

export type Runtime = keyof typeof RUNTIMES

/** What starts a script on a runtime. */
export const scriptCommand = (
  runtime: Runtime,
  file: URL,
  args: readonly string[] = [],
): readonly string[] => [...RUNTIMES[runtime](), file.pathname, ...args]

/** A script on a runtime, spoken to in lines of JSON. */
export class Script implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #lines: AsyncIterator<string>
  #errors = ''

  constructor(runtime: Runtime, file: URL, args: readonly string[] = []) {
    const [command, ...prefix] = RUNTIMES[runtime]()
    this.#child = spawn(command, [...prefix, file.pathname, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child.stderr.setEncoding('utf8').on('data', (text) => (this.#errors += text))
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** The next line the script prints. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape itself
  async next(): Promise<any> {
    const { done, value } = await this.#lines.next()
    if (done) throw new Error(`The script ended: ${this.#errors}`)
    return JSON.parse(value)
  }

  tell(line: string): void {
    this.#child.stdin.write(`${line}\n`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }
}
