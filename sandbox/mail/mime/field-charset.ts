import { Buffer, isAscii } from 'node:buffer'

import { charsetOf } from './charset-labels.ts'
import { charsetInHtml, decodeMostlyUtf8 } from './charsets.ts'
import { detectedCharset } from './detected-charset.ts'
import { type Entity, readEntities } from './entities.ts'
import { decodeTransfer } from './transfer-encoding.ts'

/** How much of a message is read after its header, where only its start is available. */
const START_BYTES = 8 * 1024
/** So much of a text is looked at. */
const SAMPLE_BYTES = 4096
/** The statistics of so many texts are looked at: it takes a millisecond each. */
const MAX_GUESSES = 2
/** More parts are not looked at. */
const MAX_PARTS = 20

/** What raw bytes in fields are likely of: the charset of the first text that has one, unless letters of ASCII are others in it. */
export function charsetOfFields(message: Buffer, root: Entity): string | undefined {
  let guesses = 0
  for (const entity of partsOf(root)) {
    const declared = fieldCharset(entity.contentType.parameters.get('charset'))
    if (declared !== undefined) return declared
    const sample = guesses < MAX_GUESSES ? sampleOf(message, entity) : undefined
    if (sample === undefined) continue
    guesses += 1
    const found = foundIn(sample, entity)
    if (found !== undefined) return found
  }
  return undefined
}

/** The same of the start of a message, with a header of that length; undefined where that is ASCII. */
export function charsetOfHeader(start: Uint8Array, headerBytes: number): string | undefined {
  if (isAscii(start.subarray(0, headerBytes))) return undefined
  const end = Math.min(start.length, headerBytes + START_BYTES)
  const message = Buffer.from(start.buffer, start.byteOffset, end)
  try {
    return charsetOfFields(message, readEntities(message).root)
  } catch {
    // It is nested too deep to be read.
    return undefined
  }
}

function fieldCharset(label: string | undefined): string | undefined {
  const kind = charsetOf(label)?.kind
  return kind === 'single-byte' || kind === 'multi-byte' ? label : undefined
}

/** In the order in which they were sent, with what they are in. */
function partsOf(root: Entity): readonly Entity[] {
  const found: Entity[] = []
  const waiting = [root]
  for (let next = waiting.pop(); next && found.length < MAX_PARTS; next = waiting.pop()) {
    found.push(next)
    waiting.push(...next.children.slice(0, MAX_PARTS).toReversed())
  }
  return found
}

/** The beginning of a text that is beyond ASCII. */
function sampleOf(message: Buffer, entity: Entity): Buffer | undefined {
  const { type, body, transferEncoding } = entity
  if (!type.startsWith('text/')) return undefined
  const sent = message.subarray(body.start, Math.min(body.end, body.start + SAMPLE_BYTES))
  const sample = decodeTransfer(sent, transferEncoding)
  return isAscii(sample) ? undefined : sample
}

/** As the text is read: see `charsets.ts`. */
function foundIn(sample: Buffer, { type }: Entity): string | undefined {
  if (decodeMostlyUtf8(sample) !== undefined) return undefined
  const named = type === 'text/html' ? fieldCharset(charsetInHtml(sample)?.name) : undefined
  return named ?? detectedCharset(sample)
}
