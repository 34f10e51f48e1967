import { AppError } from '#base/app-error.ts'
import { Limiter } from '#base/limiter.ts'
import { toStorable } from '#base/storable-text.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { HostCommand } from '#platform/sandbox-host/host-command.ts'
import type { Jail } from '#platform/sandbox-host/isolation/jail.ts'
import type { MailOutline } from '#sandbox/mail/protocol.ts'

import type { MailParser, ParseOutcome, ParsedMail, PartSink, MailSource } from './mail-parser.ts'
import { type Loss, ParserProcess, type ParserLimits } from './parser-process.ts'

const MIB = 1024 * 1024
const LIMITS: ParserLimits = { cpuMs: 10_000, memoryBytes: 640 * MIB, waitMs: 120_000 }
/** What a message may take while others wait behind it; beyond that it is parsed alone. */
const SHARED_LIMITS: ParserLimits = { cpuMs: 250, memoryBytes: 384 * MIB, waitMs: 120_000 }
/** A process that has grown beyond this, or worked for so long, is not given another message. */
const KEEP_BYTES = 256 * MIB
const KEEP_CPU_MS = 60_000
/** What it has grown to is looked at after every so many messages. */
const LOOK_EVERY = 16
/** It ends by itself when it is forgotten. */
const LIFE_CPU_SECONDS = 120
/** A process that is asked nothing for so long ends. */
const IDLE_MS = 30_000
/** Losses of the process, through no fault of the message, that its parsing outlives. */
const MAX_INTERRUPTIONS = 4
const MAX_WAITING = 256

export interface ProcessMailParserDeps {
  /** How the process is started: only now, because the walls around it are detected in parallel. */
  readonly command: () => Promise<HostCommand>
  readonly logger: Logger
  readonly limits?: Partial<ParserLimits>
  /** Messages that a process is given before another takes its place; any number when left out. */
  readonly messagesPerProcess?: number
}

/** Parses small messages one behind the other in one process. */
export const sharedMailParser = (deps: ProcessMailParserDeps): MailParser =>
  new ProcessMailParser({ ...deps, limits: { ...SHARED_LIMITS, ...deps.limits } })

/** Parses large messages, each in a process that has read nothing before it: what it does to that is its own fault. */
export const loneMailParser = (deps: ProcessMailParserDeps): MailParser =>
  new ProcessMailParser({ ...deps, messagesPerProcess: 1 })

/** How to start the process behind walls. */
export const mailParserCommand = (jail: Jail, entry: string): HostCommand =>
  jail.command({ entry, view: { reads: [], writes: [] }, cpuSeconds: LIFE_CPU_SECONDS })

/** Parses messages in a process of its own, one after the other, with time and memory for each. One that breaks is replaced. */
export class ProcessMailParser implements MailParser {
  readonly #deps: ProcessMailParserDeps
  readonly #limits: ParserLimits
  readonly #turns = new Limiter({ permits: 1, maxQueued: MAX_WAITING, refuse: interrupted })
  #process: ParserProcess | undefined
  #idle: NodeJS.Timeout | undefined
  #closed = false

  constructor(deps: ProcessMailParserDeps) {
    this.#deps = deps
    this.#limits = { ...LIMITS, ...deps.limits }
  }

  parse(open: () => Promise<MailSource>, takePart: PartSink): Promise<ParseOutcome> {
    return this.#turns.run(() => this.#parse(open, takePart), { key: '' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    await this.#process?.end()
  }

  async #parse(open: () => Promise<MailSource>, takePart: PartSink): Promise<ParseOutcome> {
    clearTimeout(this.#idle)
    for (let interruptions = 0; interruptions < MAX_INTERRUPTIONS;) {
      const process = await this.#ready()
      const outcome = await this.#once(process, open, takePart)
      if (!('lost' in outcome)) return outcome
      const { lost } = outcome
      if (lost !== 'interrupted') return { fault: lost, reason: reasonOf(lost, this.#limits) }
      interruptions += 1
    }
    throw interrupted()
  }

  async #once(
    process: ParserProcess,
    open: () => Promise<MailSource>,
    takePart: PartSink,
  ): Promise<ParseOutcome | { readonly lost: Loss }> {
    let isWhole = false
    try {
      const answer = await process.ask(await open())
      if ('lost' in answer) return answer
      if ('broken' in answer) {
        isWhole = true
        return { fault: 'broken', reason: toStorable(answer.broken) }
      }
      const mail = await receive(process, answer.parsed, takePart)
      isWhole = true
      return { mail }
    } catch (error) {
      if (process.overran === undefined) throw error
      return { lost: process.overran }
    } finally {
      await this.#release(process, isWhole)
    }
  }

  async #ready(): Promise<ParserProcess> {
    if (this.#process?.ended !== false) {
      const command = await this.#deps.command()
      if (this.#closed) throw interrupted()
      this.#process = new ParserProcess(command, this.#limits, this.#deps.logger)
    }
    return this.#process
  }

  /** A process that was not read to the end of its answer, or is worn, is not used again. */
  async #release(process: ParserProcess, isWhole: boolean): Promise<void> {
    const { messagesPerProcess = Infinity } = this.#deps
    const isGood = isWhole && process.asked < messagesPerProcess && !isWorn(process)
    if (isGood && !this.#closed) {
      this.#idle = setTimeout(() => void this.#drop(process), IDLE_MS).unref()
    } else await this.#drop(process)
  }

  async #drop(process: ParserProcess): Promise<void> {
    if (this.#process === process) this.#process = undefined
    await process.end()
  }
}

const isWorn = (process: ParserProcess): boolean =>
  process.asked % LOOK_EVERY === 0 && (process.rssBytes > KEEP_BYTES || process.cpuMs > KEEP_CPU_MS)

async function receive(
  process: ParserProcess,
  outline: MailOutline,
  takePart: PartSink,
): Promise<ParsedMail> {
  const { textBytes, htmlBytes, ...rest } = outline
  const text = toStorable((await process.bytes(textBytes)).toString())
  const html = htmlBytes === null ? null : toStorable((await process.bytes(htmlBytes)).toString())
  for (const [at, part] of outline.attachments.entries()) {
    await takePart({ ...part, place: at + 1 }, process.stream(part.sizeBytes))
  }
  return { ...rest, text, html }
}

function reasonOf(
  lost: Exclude<Loss, 'interrupted'>,
  { cpuMs, memoryBytes }: ParserLimits,
): string {
  const reasons = {
    cpu: `It takes more than ${cpuMs / 1000} s to read`,
    memory: `It takes more than ${Math.round(memoryBytes / MIB)} MB of memory to read`,
    crash: 'It ends the process that reads it',
  }
  return reasons[lost]
}

function interrupted(): AppError {
  return new AppError('ServiceUnavailable', 'Parsing mail was interrupted: try again', {
    retryAfterSeconds: 1,
  })
}
