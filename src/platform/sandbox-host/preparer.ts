import { AppError } from '#base/app-error.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { Prepared, SourceFault } from '#sandbox/protocol/protocol.ts'

import type { HostCommand } from './host-command.ts'
import { type PreparerLimits, PreparerProcess, type PreparerReply } from './preparer-process.ts'
import { PreparerTurns } from './preparer-turns.ts'
import type { FunctionSource } from './sandbox.ts'

const MIB = 1024 * 1024
/** A process that has grown beyond this is not given another source. */
const KEEP_BYTES = 256 * MIB
/** A process that is asked nothing for so long ends: the last one, and one beside it. */
const IDLE_MS = 30_000
const SPARE_IDLE_MS = 5000
/** Losses of the process, through no fault of the source, that a preparation outlives. */
const MAX_INTERRUPTIONS = 8
/** Sources of one site that may wait. */
const MAX_WAITING = 256

/**
 * Prepares code in processes of its own, so that no source can hurt a call or another source: the sites in turn, with time
 * and memory for each source. A process that a source broke is replaced. A source is refused only for what it does to a
 * process that has read nothing before it.
 */
export class Preparer {
  readonly #deps
  readonly #turns: PreparerTurns
  readonly #processes = new Set<PreparerProcess>()
  /** Those of them that have nothing to do, and when they end. */
  readonly #idle = new Map<PreparerProcess, NodeJS.Timeout>()
  #closed = false

  constructor(deps: {
    /** Makes what starts one process. */
    command(): HostCommand
    /** How many processes there may be. */
    readonly processes: number
    readonly limits: PreparerLimits
    readonly logger: Logger
  }) {
    this.#deps = deps
    this.#turns = new PreparerTurns({
      processes: deps.processes,
      maxWaiting: MAX_WAITING,
      refuse: tooMany,
      now: () => performance.now(),
    })
  }

  /**
   * Rejects with `ServiceUnavailable` when the process is lost again and again, or the service ends, and with
   * `TooManyRequests` when as many sources of the site wait as may.
   */
  async prepare(siteId: string, source: FunctionSource): Promise<Prepared> {
    const { entry } = source
    for (let interruptions = 0; interruptions < MAX_INTERRUPTIONS;) {
      const turn = await this.#turns.run(siteId, (charge) => this.#take(source, charge))
      if ('ok' in turn.reply) return turn.reply
      const fault = this.#faultOf(turn.reply, entry)
      if (fault === undefined) interruptions += 1
      else if (turn.isFirst) return { ok: false, fault }
    }
    throw interrupted(entry)
  }

  async stop(): Promise<void> {
    this.#closed = true
    for (const timer of this.#idle.values()) clearTimeout(timer)
    await Promise.all([...this.#processes].map((process) => process.end()))
  }

  /** Has the source read once. `isFirst`: the process has read nothing before it. */
  async #take(
    { entry, files }: FunctionSource,
    charge: (cpuMs: number) => void,
  ): Promise<{ readonly reply: PreparerReply; readonly isFirst: boolean }> {
    if (this.#closed) throw new AppError('ServiceUnavailable', 'The service is shutting down')
    const process = this.#ready()
    const reply = await process.ask(JSON.stringify({ entry, files: [...files] }))
    charge(process.usedMs)
    if (!('ok' in reply) || process.rssBytes > KEEP_BYTES) await this.#end(process)
    else this.#keep(process)
    return { reply, isFirst: process.asked === 1 }
  }

  #ready(): PreparerProcess {
    for (const [process, timer] of this.#idle) {
      clearTimeout(timer)
      this.#idle.delete(process)
      if (!process.ended) return process
      this.#processes.delete(process)
    }
    const { limits, logger } = this.#deps
    const process = new PreparerProcess(this.#deps.command(), limits, logger)
    this.#processes.add(process)
    return process
  }

  #keep(process: PreparerProcess): void {
    const idleMs = this.#processes.size > 1 ? SPARE_IDLE_MS : IDLE_MS
    this.#idle.set(process, setTimeout(() => void this.#end(process), idleMs).unref())
  }

  async #end(process: PreparerProcess): Promise<void> {
    this.#idle.delete(process)
    await process.end()
    this.#processes.delete(process)
  }

  /** What a source is refused for; undefined when it is not its fault. */
  #faultOf(reply: Exclude<PreparerReply, Prepared>, entry: string): SourceFault | undefined {
    if ('broken' in reply) return reply.broken
    if (reply.lost === 'interrupted') return undefined
    const { cpuMs, memoryBytes } = this.#deps.limits
    const reasons = {
      cpu: `takes more than ${cpuMs / 1000} s to read, in processor time: make it smaller, or split the function`,
      memory: `takes more than ${Math.round(memoryBytes / MIB)} MB of memory to read: make it smaller, or split the function`,
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
