import type { Readable } from 'node:stream'

import { AppError } from '#base/app-error.ts'
import type { ByteRoom } from '#base/byte-room.ts'

import { Base64Text } from './base64-text.ts'

/** So much of a response is read without asking for room: most are shorter. */
const SMALL_BYTES = 64 * 1024

export interface ReadRules {
  readonly maxBytes: number
  readonly room: ByteRoom | undefined
  readonly signal: AbortSignal
}

export interface ReadResponse {
  readonly bodyBase64: string
  /** Of the room that it has taken. */
  readonly heldBytes: number
}

export const NO_BODY: ReadResponse = { bodyBase64: '', heldBytes: 0 }

/**
 * Counts what comes out of the decoder: a few bytes on the wire can be gigabytes here. Room is taken once, for all that may
 * come: responses that asked for a little more each, all at once, would wait for each other.
 */
export async function readResponse(
  stream: Readable,
  announced: string | undefined,
  { maxBytes, room, signal }: ReadRules,
): Promise<ReadResponse> {
  const text = new Base64Text()
  const atMost = Math.min(maxBytes, Number(announced ?? maxBytes))
  let takenBytes = 0
  for await (const chunk of stream) {
    signal.throwIfAborted()
    const bytes = chunk as Buffer
    const sizeBytes = text.sizeBytes + bytes.byteLength
    if (sizeBytes > maxBytes) {
      stream.destroy()
      throw new Error(`the response is longer than ${maxBytes} bytes`)
    }
    if (room && takenBytes === 0 && sizeBytes > SMALL_BYTES) {
      if (!(await room.take(atMost, signal))) throw noRoom()
      takenBytes = atMost
    }
    text.add(bytes)
  }
  const heldBytes = Math.min(takenBytes, text.sizeBytes)
  room?.giveBack(takenBytes - heldBytes)
  return { bodyBase64: text.end(), heldBytes }
}

const noRoom = (): AppError =>
  new AppError(
    'TooManyRequests',
    'fetch: the responses to this site’s calls are too large together, and none of them made room in time: await some of them before you ask for more',
    { fields: { retryable: true } },
  )
