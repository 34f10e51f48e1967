import { AppError } from '#base/app-error.ts'
import { ByteBlocks } from '#base/byte-blocks.ts'
import { bodyTooLarge } from '#runtime/calls/request-body.ts'

import type { BodySource, RequestBodyBudgets } from './request-body-budgets.ts'

/** Bodies that are being received, and whose this one is. */
export interface Reception {
  readonly bodies: RequestBodyBudgets
  readonly source: BodySource
}

/** On the request itself: a WeakMap would cost each garbage collection what it holds. */
const BODIES = Symbol('bodies')

interface Received {
  [BODIES]?: RequestBodyBudgets
}

/** For a request whose body is short enough to be left to the runtime. */
export function receivedWith(request: Request & Received, bodies: RequestBodyBudgets): Request {
  request[BODIES] = bodies
  return request
}

/** The text of a body; it fails when it stalls. */
export async function receivedText(request: Request & Received): Promise<string> {
  const bodies = request[BODIES]
  if (!bodies) return request.text()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const body = bodies.openShort(reject)
  try {
    return await Promise.race([request.text(), late])
  } finally {
    body.close()
  }
}

/** A whole body, unless it is longer than that many bytes (413), stalls or is too slow for its company (408). */
export async function receiveUpTo(
  stream: ReadableStream<Uint8Array>,
  limitBytes: number,
  reception: Reception,
): Promise<Uint8Array<ArrayBuffer>> {
  const { reader, body, fault } = openReader(stream, reception)
  const blocks = new ByteBlocks()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => Promise.reject(brokenOff()))
      fault.throwIfAborted()
      if (done) return blocks.join()
      if (blocks.sizeBytes + value.byteLength > limitBytes) throw bodyTooLarge(limitBytes)
      const heldBefore = blocks.heldBytes
      blocks.add(value)
      body.received(value.byteLength, blocks.heldBytes - heldBefore)
    }
  } finally {
    body.close()
  }
}

/** The same bytes, passed on as they come: they fail when they stall. */
export function receiving(
  stream: ReadableStream<Uint8Array>,
  reception: Reception,
): ReadableStream<Uint8Array> {
  const { reader, body, fault } = openReader(stream, reception)
  body.pause()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        body.resume()
        try {
          const { done, value } = await reader.read()
          fault.throwIfAborted()
          if (!done) {
            body.received(value.byteLength, 0)
            body.pause()
            return controller.enqueue(value)
          }
          body.close()
          controller.close()
        } catch (error) {
          body.close()
          controller.error(error)
        }
      },
      async cancel(reason) {
        body.close()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** What reads a body, and `fault`, which is aborted with the reason when the body is ended. */
function openReader(stream: ReadableStream<Uint8Array>, { bodies, source }: Reception) {
  const reader = stream.getReader()
  const ending = new AbortController()
  const body = bodies.open(source, (why) => {
    ending.abort(why)
    void reader.cancel(why).catch(() => {})
  })
  return { reader, body, fault: ending.signal }
}

/** Nobody hears it: the connection is gone. */
const brokenOff = (): AppError =>
  new AppError('RequestTimeout', 'The request body broke off before its end')
