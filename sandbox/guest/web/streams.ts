import './dom-exception.ts'
import * as interfaces from 'web-streams-polyfill'
import { ReadableStream, TransformStream, WritableStream } from 'web-streams-polyfill'

import { defineInterface } from './interface.ts'
import { reflectGet } from './primordials.ts'

export { ReadableStream, TransformStream, WritableStream }

for (const [name, constructor] of Object.entries(interfaces))
  defineInterface(name, constructor, constructor.length)

/** A stream of bytes that are all here already. */
export function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: 'bytes',
    pull(controller) {
      if (bytes.length > 0) controller.enqueue(new Uint8Array(bytes))
      controller.close()
      controller.byobRequest?.respond(0)
    },
  })
}

/** Everything a stream gives; a chunk that is not a Uint8Array is a TypeError, as for any body. */
export async function readAll(stream: ReadableStream): Promise<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let total = 0
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value: unknown }
    if (done) break
    if (!(value instanceof Uint8Array)) throw new TypeError('Received non-Uint8Array chunk')
    chunks[chunks.length] = value
    total += value.length
  }
  return concatenate(chunks, total)
}

/** Whether something was read from the stream or it was cancelled. */
export const isDisturbed = (stream: ReadableStream): boolean =>
  reflectGet(stream, '_disturbed') === true

function concatenate(chunks: readonly Uint8Array[], total: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(total)
  let offset = 0
  for (let index = 0; index < chunks.length; index++) {
    const chunk = chunks[index]
    if (chunk === undefined) continue
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
