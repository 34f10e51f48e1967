import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import type { Ending, Finding, FromLane, Job } from './protocol.ts'

export interface LaneOptions {
  /** The module that the process runs, beside this one. */
  readonly entry: string
  readonly args: readonly string[]
  /** How long one job may take. */
  readonly jobMs: number
}

export interface JobOutcome {
  readonly findings: readonly Finding[]
  readonly ending: Ending
  readonly message: string
}

export interface JobRunner {
  run(job: Job): Promise<JobOutcome>
}

/** Where the files of a run are run. */
export interface Lanes {
  readonly ours: JobRunner
  readonly beside: JobRunner | undefined
  progress(words: string): void
}

/** A process that runs one job after another. What hangs or crashes in it ends with it; the next job gets a new one. */
export class Lane implements JobRunner, AsyncDisposable {
  readonly #options: LaneOptions
  #child: Promise<ChildProcess> | undefined

  constructor(options: LaneOptions) {
    this.#options = options
  }

  async run(job: Job): Promise<JobOutcome> {
    this.#child ??= start(this.#options)
    const child = await this.#child
    const findings: Finding[] = []
    const [ending, message] = await new Promise<readonly [Ending, string]>((resolve) => {
      const timer = setTimeout(
        () => settle('timeout', `No end within ${this.#options.jobMs} ms`),
        this.#options.jobMs,
      )
      const settle = (how: Ending, words: string): void => {
        clearTimeout(timer)
        child.removeListener('message', listen)
        child.removeListener('exit', crash)
        resolve([how, words])
      }
      const listen = (sent: FromLane): void => {
        if (sent.kind === 'findings') findings.push(...sent.findings)
        else if (sent.kind === 'ended') settle(sent.ending, sent.message)
      }
      const crash = (code: number | null, signal: string | null): void =>
        settle('crashed', `The process ended: ${signal ?? code}`)
      child.on('message', listen)
      child.once('exit', crash)
      child.send(job)
    })
    if (ending === 'timeout' || child.exitCode !== null || child.signalCode !== null)
      await this[Symbol.asyncDispose]()
    return { findings, ending, message }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = await this.#child?.catch(() => undefined)
    this.#child = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      child.kill('SIGKILL')
    })
  }
}

function start({ entry, args }: LaneOptions): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL(entry, import.meta.url)), [...args], {
    execArgv: ['--no-node-snapshot', '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let words = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    words = `${words}${chunk.toString()}`.slice(-4000)
  })
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve(child))
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`"${entry}" does not start:\n${words}`)))
  })
}
