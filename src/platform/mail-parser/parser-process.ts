import { once } from 'node:events'

import type { Logger } from '#platform/log/logger.ts'
import type { HostCommand } from '#platform/sandbox-host/host-command.ts'
import { cpuMs, rssBytes } from '#platform/sandbox-host/process-usage.ts'
import { type StartedProcess, startProcess } from '#platform/sandbox-host/start-process.ts'
import type { MailParserAnswer } from '#sandbox/mail/protocol.ts'

import type { MailSource } from './mail-parser.ts'
import { MAX_ANSWER_BYTES, parserAnswer } from './parser-answer.ts'
import { PipeReader } from './pipe-reader.ts'

const LOOK_EVERY_MS = 25
const SIZE_BYTES = 4
/** How V8, the allocators and the kernel end a process for what it does itself. */
const OWN_DEATHS: readonly (NodeJS.Signals | null)[] = [
  'SIGABRT',
  'SIGTRAP',
  'SIGILL',
  'SIGSEGV',
  'SIGBUS',
]

export interface ParserLimits {
  /** Processor time for one message. */
  readonly cpuMs: number
  /** Resident memory of the process. */
  readonly memoryBytes: number
  /** A process that gets no processor time is slow, not at work for too long; up to a point. */
  readonly waitMs: number
}

/** What a message does to the process that reads it; `interrupted` is no fault of the message. */
export type Loss = 'cpu' | 'memory' | 'crash' | 'interrupted'
type Answer = Exclude<MailParserAnswer, { ready: true }>

interface Begun {
  readonly atMs: number
  /** Whether the process reads the message, and has not just begun to start. */
  readonly isReady: boolean
  readonly cpuMs: number | undefined
}

/** One life of the process that parses mail. It ends when anything is wrong with it. */
export class ParserProcess {
  readonly #process: StartedProcess
  readonly #limits: ParserLimits
  readonly #logger: Logger
  readonly #exited: Promise<unknown>
  readonly #ready: Promise<void>
  readonly #output: PipeReader
  #begun: Begun = { atMs: 0, isReady: false, cpuMs: undefined }
  #killed: Loss | undefined
  #loss: Loss = 'interrupted'
  /** Messages it was given. */
  asked = 0
  ended = false

  constructor(command: HostCommand, limits: ParserLimits, logger: Logger) {
    this.#limits = limits
    this.#logger = logger
    this.#process = startProcess(command, 'pipe')
    const { child } = this.#process
    // Not `close`, which waits until its output is read to the end.
    this.#exited = once(child, 'exit').catch(() => {})
    child.on('error', (err) => {
      logger.error({ err }, 'the process that parses mail does not start')
      this.ended = true
    })
    child.on('exit', (code, signal) => {
      this.#onExit(code, signal)
      child.stdout?.destroy()
    })
    if (!child.stdout) throw new Error('A process without output')
    this.#output = new PipeReader(child.stdout)
    this.#ready = this.#readAnswer().then(() => {})
    this.#ready.catch(() => {})
  }

  get rssBytes(): number {
    return rssBytes(this.#process.pid())
  }

  /** 0 once it is gone: why it went, its exit tells. */
  get cpuMs(): number {
    return cpuMs(this.#process.pid()) ?? 0
  }

  /** The limit that it was ended for, also where it has begun to answer: what it says is cut off then. */
  get overran(): Loss | undefined {
    return this.#killed === 'interrupted' ? undefined : this.#killed
  }

  /** Gives it a message. One at a time; what an answer announces is read with `bytes` and `stream` before the next. */
  async ask(mail: MailSource): Promise<Answer | { readonly lost: Loss }> {
    this.asked += 1
    this.#begun = { atMs: performance.now(), isReady: false, cpuMs: undefined }
    const looking = setInterval(() => this.#look(), LOOK_EVERY_MS)
    try {
      await this.#ready
      this.#begun = { ...this.#begun, isReady: true }
      const [answer] = await Promise.all([this.#readAnswer(), this.#send(mail)])
      if ('ready' in answer) throw new Error('It was ready before')
      return answer
    } catch (error) {
      if (error instanceof SourceError) throw error.cause
      return { lost: await this.#lossOf(error) }
    } finally {
      clearInterval(looking)
      // What was not sent holds a file open. While it is still being sent, that closes it.
      await mail.body.cancel().catch(() => {})
    }
  }

  bytes(length: number): Promise<Buffer> {
    return this.#output.bytes(length)
  }

  stream(length: number): ReadableStream<Uint8Array> {
    return this.#output.stream(length)
  }

  /** Ends it; resolves when it is gone. */
  async end(): Promise<void> {
    this.#kill('interrupted')
    await this.#exited
  }

  async #readAnswer(): Promise<MailParserAnswer> {
    const size = (await this.#output.bytes(SIZE_BYTES)).readUInt32LE(0)
    if (size > MAX_ANSWER_BYTES) throw new Error(`An answer of ${size} bytes is too long`)
    return parserAnswer(await this.#output.bytes(size))
  }

  async #send({ sizeBytes, body }: MailSource): Promise<void> {
    const size = Buffer.alloc(SIZE_BYTES)
    size.writeUInt32LE(sizeBytes)
    await this.#write(size)
    let sent = 0
    for await (const chunk of sourceOf(body)) {
      sent += chunk.length
      if (sent > sizeBytes) break
      await this.#write(chunk)
    }
    if (sent === sizeBytes) return
    await this.end()
    throw new SourceError(new Error(`A message of ${sizeBytes} bytes has ${sent} in the store`))
  }

  async #write(chunk: Uint8Array): Promise<void> {
    const { stdin } = this.#process.child
    if (this.ended || !stdin) throw new Error('It has ended')
    if (!stdin.write(chunk)) await Promise.race([once(stdin, 'drain'), this.#exited])
  }

  #look(): void {
    const { memoryBytes, cpuMs: allowedMs, waitMs } = this.#limits
    const isOld = performance.now() - this.#begun.atMs > waitMs
    if (this.#begun.isReady && this.rssBytes > memoryBytes) this.#kill('memory')
    else if (this.#begun.isReady && this.#takenMs() > allowedMs) this.#kill('cpu')
    else if (isOld) this.#kill('interrupted')
  }

  /** Since the first look: most messages are read before it, and cost no look at all. */
  #takenMs(): number {
    const now = this.cpuMs
    const { cpuMs: before = now } = this.#begun
    this.#begun = { ...this.#begun, cpuMs: before }
    return now - before
  }

  #kill(why: Loss): void {
    this.#killed ??= why
    this.#process.kill()
  }

  async #lossOf(error: unknown): Promise<Loss> {
    // It may have said something wrong instead of ending.
    if (!this.ended && this.#killed === undefined) this.#logger.warn({ err: error }, 'mail parser')
    this.#process.kill()
    await this.#exited
    return this.#loss
  }

  #onExit(exitCode: number | null, exitSignal: NodeJS.Signals | null): void {
    const { code, signal } = this.#process.endOf({ code: exitCode, signal: exitSignal })
    const crashed = this.#begun.isReady && OWN_DEATHS.includes(signal)
    if (this.#killed !== 'interrupted') {
      const fields = { code, signal, killed: this.#killed, stderr: this.#process.stderr() }
      this.#logger.warn(fields, 'the process that parses mail ended')
    }
    this.#loss = this.#killed ?? (crashed ? 'crash' : 'interrupted')
    this.ended = true
  }
}

/** The message itself could not be read. */
class SourceError extends Error {
  constructor(cause: unknown) {
    super('A message could not be read', { cause })
  }
}

async function* sourceOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk
  } catch (error) {
    throw new SourceError(error)
  }
}
