import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

import { vi } from 'vitest'

import type { Stack } from './stack.ts'

const PROGRAM = join(import.meta.dirname, '../processes/job-replica.ts')
const PATIENCE = { timeout: 90_000, interval: 5 }

/** A replica in a process of its own that works the queues of a stack, and whose time is set from here. */
export class JobReplica implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  #printed = ''
  #errors = ''

  private constructor(stack: Stack, now: number) {
    const { database, dataDir, masterKey, port } = stack
    const places = [database.url, dataDir, masterKey.toString('hex'), String(port), String(now)]
    this.#child = spawn(process.execPath, [PROGRAM, ...places], { stdio: 'pipe' })
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => (this.#printed += text))
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#errors += text))
    // What is written to a process that was killed is lost.
    this.#child.stdin.on('error', () => {})
  }

  static async start(stack: Stack, now: number): Promise<JobReplica> {
    const replica = new JobReplica(stack, now)
    await replica.#until(() => replica.#lines().includes('ready'))
    return replica
  }

  /** The request ids of the calls that it made, in order. */
  get calls(): string[] {
    return this.#lines()
      .filter((line) => line.startsWith('call '))
      .map((line) => line.slice('call '.length))
  }

  /** Resolves once it has looked at the schedules at that time. */
  async setTime(now: number): Promise<void> {
    this.#child.stdin.write(`now ${now}\n`)
    await this.#until(() => this.#lines().includes(`ticked ${now}`))
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.write('end\n')
    await this.#ended()
  }

  #lines(): string[] {
    return this.#printed.split('\n').slice(0, -1)
  }

  async #until(holds: () => boolean): Promise<void> {
    await vi.waitUntil(() => {
      if (this.#child.exitCode !== null) throw new Error(`The replica ended: ${this.#errors}`)
      return holds()
    }, PATIENCE)
  }

  async #ended(): Promise<void> {
    const { exitCode, signalCode } = this.#child
    if (exitCode === null && signalCode === null) await once(this.#child, 'close')
  }
}
