import { AppError } from '#base/app-error.ts'
import { Limiter } from '#base/limiter.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { Prepared, SourceFault } from '#sandbox/protocol.ts'

import type { HostCommand } from './host-command.ts'
import { type PreparerLimits, PreparerProcess, type PreparerReply } from './preparer-process.ts'
import type { FunctionSource } from './sandbox.ts'

const MIB = 1024 * 1024
/** A process that has grown beyond this is not given another source. */
const KEEP_BYTES = 256 * MIB
/** A process that is asked nothing for so long ends. */
const IDLE_MS = 30_000
/** Losses of the process, through no fault of the source, that a preparation outlives. */
const MAX_INTERRUPTIONS = 8
/** Sources of one site that may wait. */
const MAX_WAITING = 256

export interface PreparerDeps {
  /** Makes what starts one process. */
  command(): HostCommand
  readonly limits: PreparerLimits
  readonly logger: Logger
}

/**
 * Prepares code in a process of its own, so that no source can hurt a call or another source: one after the other, the
 * sites in turn, with time and memory for each. A process that a source broke is replaced. A source is refused only for
 * what it does to a process that has read nothing before it.
 */
export class Preparer {
  readonly #deps: PreparerDeps
  #process: PreparerProcess | undefined
  readonly #turns = new Limiter({ permits: 1, maxQueued: MAX_WAITING, refuse: tooMany })
  #idle: NodeJS.Timeout | undefined
  #closed = false

  constructor(deps: PreparerDeps) {
    this.#deps = deps
  }

  /**
   * Rejects with `ServiceUnavailable` when the process is lost again and again, or the service ends, and with
   * `TooManyRequests` when as many sources of the site wait as may.
   */
  prepare(siteId: string, source: FunctionSource): Promise<Prepared> {
    return this.#turns.run(() => this.#prepare(source), { key: siteId })
  }

  async stop(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    await this.#process?.end()
  }

  async #prepare({ entry, files }: FunctionSource): Promise<Prepared> {
    const text = JSON.stringify({ entry, files: [...files] })
    clearTimeout(this.#idle)
    for (let interruptions = 0; interruptions < MAX_INTERRUPTIONS;) {
      if (this.#closed) throw new AppError('ServiceUnavailable', 'The service is shutting down')
      const process = this.#ready()
      const answer = await process.ask(text)
      if ('ok' in answer) {
        await this.#release(process)
        return answer
      }
      await this.#replace(process)
      const fault = this.#faultOf(answer, entry)
      if (fault === undefined) interruptions += 1
      else if (process.asked === 1) return { ok: false, fault }
    }
    throw interrupted(entry)
  }

  #ready(): PreparerProcess {
    const { limits, logger } = this.#deps
    if (this.#process?.ended !== false) {
      this.#process = new PreparerProcess(this.#deps.command(), limits, logger)
    }
    return this.#process
  }

  async #release(process: PreparerProcess): Promise<void> {
    if (process.rssBytes > KEEP_BYTES) await this.#replace(process)
    else this.#idle = setTimeout(() => void this.#replace(process), IDLE_MS).unref()
  }

  async #replace(process: PreparerProcess): Promise<void> {
    if (this.#process === process) this.#process = undefined
    await process.end()
  }

  /** What a source is refused for; undefined when it is not its fault. */
  #faultOf(reply: Exclude<PreparerReply, Prepared>, entry: string): SourceFault | undefined {
    if ('broken' in reply) return reply.broken
    if (reply.lost === 'interrupted') return undefined
    const { cpuMs, memoryBytes } = this.#deps.limits
    const reasons = {
      cpu: `takes more than ${cpuMs / 1000} s to read: make it smaller`,
      memory: `takes more than ${Math.round(memoryBytes / MIB)} MB of memory to read: make it smaller`,
      crash: 'ends the process that reads it: make it simpler',
    }
    return { message: `"${entry}" ${reasons[reply.lost]}`, path: entry }
  }
}

const tooMany = (): AppError =>
  new AppError('TooManyRequests', 'Too much code of this site is being read: try again later', {
    retryAfterSeconds: 1,
  })

const interrupted = (entry: string): AppError =>
  new AppError('ServiceUnavailable', `Reading "${entry}" was interrupted: try again`, {
    retryAfterSeconds: 1,
  })
