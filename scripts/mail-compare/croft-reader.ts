import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { readMailHeaders } from '#mail/headers/mail-headers.ts'
import { parserAnswer } from '#platform/mail-parser/parser-answer.ts'
import { PipeReader } from '#platform/mail-parser/pipe-reader.ts'
import type { MailOutline, MailParserAnswer } from '#sandbox/mail/protocol.ts'

import { addressIn, evenBlanks, type ShownMail, wordsOf } from './shown-mail.ts'

const PARSER = fileURLToPath(import.meta.resolve('#sandbox/mail-parser.ts'))
const SIZE_BYTES = 4

type Parsed = Pick<ShownMail, 'failed' | 'text' | 'html' | 'isTruncated' | 'attachments'>

/** Shows messages with what the service shows them with: the process that parses mail, and the fields as they are listed. */
export class CroftReader implements AsyncDisposable {
  #process: ParserRun | undefined

  async read(raw: Buffer): Promise<ShownMail> {
    const headers = readMailHeaders(raw)
    const { from } = headers
    const listed = (texts: readonly string[]) => texts.map((text) => addressIn(text).address)
    return {
      subject: headers.subject,
      from: from === '' ? undefined : { ...addressIn(from), address: headers.fromAddress },
      to: listed(headers.to),
      cc: listed(headers.cc),
      ...(await this.#parsed(raw)),
    }
  }

  /** The most memory that the process has held since it started, in bytes. */
  async peakBytes(): Promise<number> {
    return (await this.#process?.peakBytes()) ?? 0
  }

  /** The next message gets a process that has read none. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.end()
    this.#process = undefined
  }

  async #parsed(raw: Buffer): Promise<Parsed> {
    this.#process ??= new ParserRun()
    await this.#process.started()
    try {
      return await this.#process.parse(raw)
    } catch (error) {
      await this[Symbol.asyncDispose]()
      return failed(error instanceof Error ? error.message : String(error))
    }
  }
}

const failed = (reason: string): Parsed => ({
  failed: reason,
  text: '',
  html: null,
  isTruncated: false,
  attachments: [],
})

/** One life of the process. */
class ParserRun {
  readonly #child = spawn(process.execPath, [PARSER], { stdio: ['pipe', 'pipe', 'inherit'] })
  readonly #output = new PipeReader(this.#child.stdout)
  readonly #ready = this.#answer()

  constructor() {
    this.#ready.catch(() => {})
    this.#child.stdin.on('error', () => {})
  }

  /** Rejects when it does not start: that is no fault of a message. */
  async started(): Promise<void> {
    try {
      await this.#ready
    } catch (error) {
      throw new Error('The process that parses mail does not start', { cause: error })
    }
  }

  async parse(raw: Buffer): Promise<Parsed> {
    const size = Buffer.alloc(SIZE_BYTES)
    size.writeUInt32LE(raw.length)
    this.#child.stdin.write(size)
    this.#child.stdin.write(raw)
    const answer = await this.#answer()
    if ('broken' in answer) return failed(answer.broken)
    if ('ready' in answer) throw new Error('The process was ready before')
    return this.#shown(answer.parsed)
  }

  async peakBytes(): Promise<number> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill()
    await exited
  }

  async #answer(): Promise<MailParserAnswer> {
    const size = (await this.#output.bytes(SIZE_BYTES)).readUInt32LE(0)
    return parserAnswer(await this.#output.bytes(size))
  }

  async #shown({ textBytes, htmlBytes, truncated, attachments }: MailOutline): Promise<Parsed> {
    const text = await this.#output.bytes(textBytes)
    const html = await this.#output.bytes(htmlBytes ?? 0)
    const shown = []
    for (const { filename, contentType, sizeBytes } of attachments) {
      const sha256 = createHash('sha256').update(await this.#output.bytes(sizeBytes))
      shown.push({ filename, contentType, sizeBytes, sha256: sha256.digest('hex') })
    }
    return {
      failed: undefined,
      text: evenBlanks(text.toString()),
      html: htmlBytes === null ? null : wordsOf(html.toString()),
      isTruncated: truncated,
      attachments: shown,
    }
  }
}
