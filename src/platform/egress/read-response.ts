import type { Readable } from 'node:stream'

import { AppError } from '#base/app-error.ts'
import type { MemoryLease } from '#base/memory-budget.ts'

import { Base64Text } from './base64-text.ts'

/** This much of a response is read without a reservation: most are shorter. */
const SMALL_BYTES = 64 * 1024

export interface ReadRules {
  readonly maxBytes: number
  readonly memory: MemoryLease | undefined
  readonly signal: AbortSignal
}

export interface ReadResponse {
  readonly bodyBase64: string
  /** The bytes that it has reserved. */
  readonly heldBytes: number
}

export const NO_BODY: ReadResponse = { bodyBase64: '', heldBytes: 0 }

/**
 * Counts what comes out of the decoder: a few bytes on the wire can be gigabytes here. Memory is reserved
 * once, for all that may come: responses that each asked for a little more would wait for each other.
 */
export async function readResponse(
  stream: Readable,
  announced: string | undefined,
  { maxBytes, memory, signal }: ReadRules,
): Promise<ReadResponse> {
  const text = new Base64Text()
  const atMost = Math.min(maxBytes, Number(announced ?? maxBytes))
  let reservedBytes = 0
  for await (const chunk of stream) {
    signal.throwIfAborted()
    const bytes = chunk as Buffer
    const sizeBytes = text.sizeBytes + bytes.byteLength
    if (sizeBytes > maxBytes) {
      stream.destroy()
      throw new Error(`the response is longer than ${maxBytes} bytes`)
    }
    if (memory && reservedBytes === 0 && sizeBytes > SMALL_BYTES) {
      if (!(await memory.reserve(atMost, signal))) throw noMemory()
      reservedBytes = atMost
    }
    text.add(bytes)
  }
  const heldBytes = Math.min(reservedBytes, text.sizeBytes)
  memory?.giveBack(reservedBytes - heldBytes)
  return { bodyBase64: text.end(), heldBytes }
}

const noMemory = (): AppError =>
  new AppError(
    'TooManyRequests',
    'fetch: the responses to this site’s calls are too large together, and none of them made room in time: await some of them before you ask for more',
    { fields: { retryable: true } },
  )
