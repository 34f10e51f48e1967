import { Readable } from 'node:stream'

import type { Ids } from '#base/ids.ts'
import { objectIdOf } from '#mail/messages/stored-attachments.ts'
import { partKey } from '#mail/objects/mail-keys.ts'
import type { PartStore } from '#mail/parsing/message-parser.ts'
import type { StoredAttachment } from '#mail/parsing/model.ts'
import type { ParsedPart, PartSink } from '#platform/mail-parser/mail-parser.ts'
import { PipeReader } from '#platform/mail-parser/pipe-reader.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'

/** Of those that have the same length; a message with more of them is rare. */
const COMPARED = 8

interface Made {
  readonly part: ParsedPart
  readonly objectId: string
  /** The one whose bytes it has. */
  readonly same: StoredAttachment | undefined
}

type Objects = Pick<ObjectStore, 'get'>

/** An object that is read as far as the body that it is compared with. */
interface Compared {
  readonly key: string
  readonly stream: Readable
  readonly reader: PipeReader
}

/**
 * Stores the attachments of a message that is parsed again. Those with the same bytes stay where they are; others get objects with
 * names that were never used, so that a URL gives the bytes for which it was signed. An attachment that can be recognized keeps
 * its id: by its bytes, its name, its Content-ID, or its place in a list that did not grow.
 */
export class KeptParts implements PartStore {
  readonly #deps
  readonly #made: Made[] = []
  readonly #free: Set<StoredAttachment>

  constructor(deps: {
    readonly objects: Pick<ObjectStore, 'get' | 'put'>
    readonly ids: Pick<Ids, 'named'>
    readonly siteId: string
    readonly rawId: string
    /** The attachments as they are listed. */
    readonly before: readonly StoredAttachment[]
  }) {
    this.#deps = deps
    this.#free = new Set(deps.before)
  }

  readonly take: PartSink = async (
    { filename, contentType, sizeBytes, contentId, inline },
    body,
  ) => {
    const { objects, ids } = this.#deps
    const part = { filename, contentType, sizeBytes, contentId, inline }
    const alike = this.#alike(part)
    const keys = alike.map((each) => this.#key(objectIdOf(each)))
    const found = await sameObject(objects, { keys, sizeBytes: part.sizeBytes }, body)
    if ('key' in found) {
      const same = alike[keys.indexOf(found.key)]
      if (!same) throw new Error('An object was found that was not looked for')
      this.#free.delete(same)
      this.#made.push({ part, objectId: objectIdOf(same), same })
      return
    }
    const objectId = ids.named('att')
    await objects.put(this.#key(objectId), found.body, { contentType: part.contentType })
    this.#made.push({ part, objectId, same: undefined })
  }

  readonly stored = (): readonly StoredAttachment[] => {
    const free = new Set(this.#free)
    const hasSameLength = this.#made.length === this.#deps.before.length
    return this.#made.map(({ part, objectId, same }, place) => {
      const known = same ?? counterpart(part, free, hasSameLength && this.#deps.before[place])
      if (known) free.delete(known)
      const attachmentId = known?.attachmentId ?? objectId
      return { attachmentId, ...part, ...(objectId !== attachmentId && { objectId }) }
    })
  }

  /** Those that may have the same bytes; an object has the content type with which it is sent. */
  #alike({ sizeBytes, contentType, filename }: ParsedPart): readonly StoredAttachment[] {
    return [...this.#free]
      .filter((each) => each.sizeBytes === sizeBytes && each.contentType === contentType)
      .toSorted((a, b) => Number(b.filename === filename) - Number(a.filename === filename))
      .slice(0, COMPARED)
  }

  #key(objectId: string): string {
    return partKey(this.#deps.siteId, this.#deps.rawId, objectId)
  }
}

/** Which of the others it was. */
function counterpart(
  { filename, contentId }: ParsedPart,
  free: ReadonlySet<StoredAttachment>,
  atPlace: StoredAttachment | false | undefined,
): StoredAttachment | undefined {
  const others = [...free]
  const known =
    others.find((each) => each.filename === filename) ??
    others.find((each) => contentId !== null && each.contentId === contentId)
  if (known) return known
  return atPlace && free.has(atPlace) ? atPlace : undefined
}

/**
 * Reads a body beside objects of the same length. Returns the key of one that has the same bytes, or the whole body as a stream where
 * none has: what was read of it comes from an object that began with the same bytes.
 */
async function sameObject(
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
