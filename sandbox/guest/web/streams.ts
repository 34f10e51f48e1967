import './dom-exception.ts'
import * as interfaces from 'web-streams-polyfill'
import { ReadableStream, TransformStream, WritableStream } from 'web-streams-polyfill'

import { defineInterface } from './interface.ts'
import { forEach, push, reflectGet, setBytes } from './primordials.ts'

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
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value: unknown }
    if (done) break
    if (!(value instanceof Uint8Array)) throw new TypeError('Received non-Uint8Array chunk')
    push(chunks, value)
  }
  return concatenate(chunks)
}

/** Whether something was read from the stream or it was cancelled. */
export const isDisturbed = (stream: ReadableStream): boolean =>
  reflectGet(stream, '_disturbed') === true

export function concatenate(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let size = 0
  forEach(chunks, (chunk) => (size += chunk.length))
  const bytes = new Uint8Array(size)
  let offset = 0
  forEach(chunks, (chunk) => {
    setBytes(bytes, chunk, offset)
    offset += chunk.length
  })
  return bytes
}
