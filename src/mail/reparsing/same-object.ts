import { Readable } from 'node:stream'

import { PipeReader } from '#platform/mail-parser/pipe-reader.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'

type Objects = Pick<ObjectStore, 'get'>

/** An object that is read as far as the body that it is compared with. */
interface Compared {
  readonly key: string
  readonly stream: Readable
  readonly reader: PipeReader
}

/**
 * Reads a body beside objects of the same length. Returns the key of one that has the same bytes, or the whole body as a stream where
 * none has: what was read of it comes from an object that began with the same bytes.
 */
export async function sameObject(
  objects: Objects,
  { keys, sizeBytes }: { readonly keys: readonly string[]; readonly sizeBytes: number },
  body: ReadableStream<Uint8Array>,
): Promise<{ readonly key: string } | { readonly body: ReadableStream<Uint8Array> }> {
  const opened = await openAll(objects, keys, sizeBytes)
  let alike = opened
  if (alike.length === 0) return { body }
  const chunks = body[Symbol.asyncIterator]()
  let comparedBytes = 0
  try {
    for (;;) {
      const { done, value } = await chunks.next()
      const [first] = alike
      if (done === true) return first ? { key: first.key } : { body }
      const still = await stillAlike(alike, value)
      if (still.length === 0 && first) {
        const start = await beginningOf(objects, first.key, comparedBytes)
        return { body: streamOf(joined(start, value, chunks)) }
      }
      alike = still
      comparedBytes += value.length
    }
  } finally {
    for (const { stream } of opened) stream.destroy()
  }
}

/** Those that are there, as long as they are to be. */
async function openAll(
  objects: Objects,
  keys: readonly string[],
  sizeBytes: number,
): Promise<readonly Compared[]> {
  const opened: Compared[] = []
  for (const key of keys) {
    const object = await objects.get(key)
    if (!object) continue
    if (object.head.sizeBytes !== sizeBytes) {
      await object.body.cancel()
      continue
    }
    const stream = Readable.fromWeb(object.body)
    opened.push({ key, stream, reader: new PipeReader(stream) })
  }
  return opened
}

async function stillAlike(alike: readonly Compared[], chunk: Uint8Array): Promise<Compared[]> {
  const still: Compared[] = []
  for (const one of alike) {
    if ((await one.reader.bytes(chunk.length)).equals(chunk)) still.push(one)
  }
  return still
}

async function beginningOf(objects: Objects, key: string, bytes: number) {
  if (bytes === 0) return undefined
  const object = await objects.get(key, { start: 0, end: bytes - 1 })
  if (!object) throw new Error('An attachment was removed while it was compared')
  return object.body
}

async function* joined(
  start: ReadableStream<Uint8Array> | undefined,
  chunk: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (start) yield* start
  yield chunk
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}

const streamOf = (chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      pull: async (controller) => {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await chunks.return(undefined)),
    },
    { highWaterMark: 0 },
  )
