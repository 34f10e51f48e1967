import { randomBytes } from 'node:crypto'
import { once } from 'node:events'

import type { Logger } from '#platform/log/logger.ts'
import type { HostOptions } from '#sandbox/host/host.ts'

import type { HostCommand } from './host-command.ts'
import type { ProcessEnd } from './inner-process.ts'
import type { WorkerExit } from './lost-calls.ts'
import { adoptSnapshot } from './snapshot-cache.ts'
import { type StartedProcess, startProcess } from './start-process.ts'

/**
 * `memoryMb` and `cpuMs` are the doing of what ran. The others have no culprit: `full` when its memory was not enough for all
 * together, `stopped` when another program stopped the process, `starved` when it got no processor time.
 */
export type KillReason = 'memoryMb' | 'cpuMs' | 'full' | 'stopped' | 'starved'

export interface HostExit extends ProcessEnd {
  /** Why this service killed it, if it did. */
  readonly killed: KillReason | undefined
  /** Whether this service had no use for it any more. */
  readonly isDismissed: boolean
}

/** How V8 and the allocators end a process that has no memory left. */
const OUT_OF_MEMORY: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL']

export function causeOf(exit: HostExit): WorkerExit['cause'] {
  if (exit.isDismissed) return 'dismissed'
  if (exit.killed === 'memoryMb' || exit.killed === 'cpuMs') return exit.killed
  if (exit.killed) return 'other'
  return OUT_OF_MEMORY.includes(exit.signal) ? 'memoryMb' : 'other'
}

/** One host process, from its start to its end. */
export class HostProcess {
  readonly #deps
  readonly #process: StartedProcess
  readonly #exited: Promise<unknown>
  #killed: HostExit['killed']
  #isOver = false
  /** Whether this service has no use for it any more. */
  #isDismissed = false
  readonly startedMs = performance.now()
  /** Proves to the service that a connection comes from this very process. */
  readonly token = randomBytes(16).toString('hex')

  constructor(deps: {
    readonly command: HostCommand
    readonly options: Omit<HostOptions, 'token'>
    readonly logger: Logger
    exited(exit: HostExit): void
  }) {
    this.#deps = deps
    const { command, options, logger } = deps
    this.#process = startProcess(command, 'ignore')
    const { child, stderr, endOf } = this.#process
    this.#exited = once(child, 'exit').catch(() => {})
    child.stdin?.write(`${JSON.stringify({ ...options, token: this.token })}\n`)
    child.on('error', (error) => {
      logger.error({ err: error }, 'sandbox host does not start')
      this.#over({ code: null, signal: null, killed: undefined, isDismissed: false })
    })
    child.on('exit', (code, signal) => {
      const end = endOf({ code, signal })
      const { memory } = command
      const killed = this.#killed ?? (memory?.ranOut() === true ? 'memoryMb' : undefined)
      void memory?.remove()
      if (!this.#isDismissed) {
        const fields = { hostPid: child.pid, ...end, killed, stderr: stderr() }
        logger.warn(fields, 'sandbox host ended')
      }
      this.#over({ ...end, killed, isDismissed: this.#isDismissed })
    })
  }

  get pid(): number {
    return this.#isOver ? 0 : this.#process.pid()
  }

  get progressPath(): string {
    return this.#deps.options.progressPath
  }

  /** Call it when the process is connected, and no site's code has run in it: later its files are not to be trusted. */
  connected(): void {
    const { snapshotPath, draftPath } = this.#deps.options
    adoptSnapshot(draftPath, snapshotPath)
  }

  /** Ends the process for what the code inside it does. */
  kill(reason: KillReason): void {
    this.#killed ??= reason
    this.#process.kill()
  }

  /** Ends the process because it has lost its connection: it is ending, most likely. */
  end(): void {
    this.#process.kill()
  }

  /** Ends the process because it is not needed any more. Resolves when it is gone. */
  async dismiss(): Promise<void> {
    this.#isDismissed = true
    this.#process.kill()
    if (!this.#isOver) await this.#exited
  }

  #over(exit: HostExit): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#deps.exited(exit)
  }
}
