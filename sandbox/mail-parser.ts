import { Buffer } from 'node:buffer'
import process from 'node:process'

import { parseMail } from './mail/parse-mail.ts'
import type { MailParserAnswer } from './mail/protocol.ts'
import { encodeFrame } from './protocol/frames.ts'

const SIZE_BYTES = 4
const MAX_REASON = 300

/** Entry of the process that parses mail; see `mail/protocol.ts`. One message at a time. It ends with its stdin. */
answer({ ready: true })
let waiting: Buffer[] = []
let length = 0
for await (const chunk of process.stdin) {
  waiting.push(chunk)
  length += waiting.at(-1)?.length ?? 0
  if (length < SIZE_BYTES || length < SIZE_BYTES + sizeOf(waiting)) continue
  const request = Buffer.concat(waiting)
  waiting = []
  length = 0
  reply(request.subarray(SIZE_BYTES))
}

function sizeOf([first = Buffer.alloc(0), ...rest]: readonly Buffer[]): number {
  const start = first.length < SIZE_BYTES ? Buffer.concat([first, ...rest]) : first
  return start.readUInt32LE(0)
}

function reply(raw: Buffer): void {
  try {
    const { outline, contents } = parseMail(raw)
    answer({ parsed: outline })
    for (const content of contents) process.stdout.write(content)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    answer({ broken: reason.slice(0, MAX_REASON) })
  }
}

function answer(content: MailParserAnswer): void {
  process.stdout.write(encodeFrame(JSON.stringify(content)))
}
