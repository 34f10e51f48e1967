import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'

import { backoffMs } from '#base/backoff.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { HostOptions } from '#sandbox/host.ts'

import type { HostCommand } from './host-command.ts'

const STDERR_LENGTH = 4000
/** A host that lived this long starts again at once. */
const STABLE_MS = 10_000

export interface HostExit {
  readonly signal: NodeJS.Signals | null
  readonly code: number | null
  /** Why this service killed it, if it did. */
  readonly killed: 'memoryMb' | 'cpuMs' | undefined
}

export interface HostProcessDeps {
  readonly command: HostCommand
  readonly options: Omit<HostOptions, 'token'>
  readonly logger: Logger
  exited(host: HostProcess, exit: HostExit): void
}

/** Keeps one host process running, whatever site code does to it. */
export class HostProcess {
  readonly #deps: HostProcessDeps
  #child: ChildProcess | undefined
  #killed: HostExit['killed']
  #restart: NodeJS.Timeout | undefined
  #startedMs = 0
  #failures = 0
  #stopped = false
  /** Proves to the service that a connection comes from this very process. */
  token = ''
  restarts = -1

  constructor(deps: HostProcessDeps) {
    this.#deps = deps
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get progressPath(): string {
    return this.#deps.options.progressPath
  }

  start(): void {
    this.token = randomBytes(16).toString('hex')
    this.restarts += 1
    this.#killed = undefined
    this.#startedMs = Date.now()
    const { command, options, logger } = this.#deps
    const child = spawn(command.file, [...command.args], {
      env: { ...command.env },
      stdio: ['pipe', 'ignore', 'pipe'],
      // A session of its own: Ctrl-C in the terminal is for the service, which still answers calls while it drains.
      detached: true,
    })
    this.#child = child
    let stderr = ''
    child.stderr.setEncoding('utf8')
    child.stderr.on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_LENGTH)
    })
    child.stdin.on('error', () => {
      // The process is gone; its exit says so.
    })
    child.stdin.write(`${JSON.stringify({ ...options, token: this.token })}\n`)
    child.on('error', (error) => {
      logger.error({ err: error }, 'sandbox host does not start')
      this.#ended({ code: null, signal: null, killed: undefined })
    })
    child.on('exit', (code, signal) => {
      if (!this.#stopped && !this.#killed) {
        logger.warn({ hostPid: child.pid, code, signal, stderr }, 'sandbox host ended')
      }
      this.#ended({ code, signal, killed: this.#killed })
    })
  }

  /** Ends the process for what the code inside it does. */
  kill(reason: 'memoryMb' | 'cpuMs'): void {
    this.#killed ??= reason
    this.#child?.kill('SIGKILL')
  }

  /** Ends the process because it is of no use any more. */
  end(): void {
    this.#child?.kill('SIGKILL')
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#restart)
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.kill('SIGKILL')
    await ended
  }

  #ended(exit: HostExit): void {
    if (!this.#child) return
    this.#child = undefined
    this.#deps.exited(this, exit)
    if (this.#stopped) return
    this.#failures = Date.now() - this.#startedMs > STABLE_MS ? 0 : this.#failures + 1
    // The first restart is immediate: the cause was site code, most likely.
    const delayMs = this.#failures <= 3 ? 0 : backoffMs(this.#failures - 3, { maxMs: 5000 })
    this.#restart = setTimeout(() => this.start(), delayMs)
  }
}
