import { LRUCache } from 'lru-cache'

import { SingleFlight } from '#base/single-flight.ts'
import type { ByteRange, ObjectStore } from '#platform/objects/object-store.ts'
import type { Artifacts } from '#sites/deployments/artifacts.ts'

import { encodedKey } from './encoded-files.ts'
import type { Representation } from './routes.ts'

const MAX_BYTES = 128 * 1024 * 1024
const MAX_BYTES_PER_SITE = 32 * 1024 * 1024
/** Longer files are streamed from the object store each time. */
const MAX_FILE_BYTES = 1024 * 1024
const ENTRY_BYTES = 512

type Contents = LRUCache<string, Uint8Array>

export interface StaticContentsDeps {
  readonly objects: Pick<ObjectStore, 'get'>
  readonly artifacts: Pick<Artifacts, 'open'>
}

export interface StaticContentsBounds {
  readonly maxBytes: number
  readonly maxBytesPerSite: number
}

/**
 * The bytes of public files, in memory as far as they are short: bounded for each site and in all. A site that needs more than
 * its share loses what it asked for longest ago; when all need more than there is, the site that was asked longest ago does.
 */
export class StaticContents {
  readonly #deps: StaticContentsDeps
  readonly #bounds: StaticContentsBounds
  /** The site that was asked last is the last one. */
  readonly #sites = new Map<string, Contents>()
  readonly #loads = new SingleFlight<string, Uint8Array | undefined>()
  #last: { readonly siteId: string; readonly contents: Contents } | undefined
  #bytes = 0

  constructor(
    deps: StaticContentsDeps,
    bounds = { maxBytes: MAX_BYTES, maxBytesPerSite: MAX_BYTES_PER_SITE },
  ) {
    this.#deps = deps
    this.#bounds = bounds
  }

  get bytesHeld(): number {
    return this.#bytes
  }

  /** Whether the bytes are kept in memory: others are to be streamed. */
  isKept = ({ sizeBytes }: Representation): boolean => sizeBytes <= MAX_FILE_BYTES

  /** Synchronous when they are in memory. Undefined when the object store has them no more. */
  bytes(
    siteId: string,
    representation: Representation,
  ): Uint8Array | Promise<Uint8Array | undefined> {
    const contents = this.#contentsOf(siteId)
    return contents.get(representation.key) ?? this.#load(siteId, representation)
  }

  /** Straight from the object store. Both ends of the range count. */
  async stream(
    siteId: string,
    { encoding, sha256, offset, sizeBytes }: Representation,
    range: ByteRange = { start: 0 },
  ): Promise<ReadableStream<Uint8Array> | undefined> {
    const start = offset + range.start
    const end = offset + (range.end ?? sizeBytes - 1)
    const { objects, artifacts } = this.#deps
    const stored =
      encoding === undefined
        ? await artifacts.open(siteId, sha256, sizeBytes === 0 ? undefined : { start, end })
        : await objects.get(encodedKey(siteId, sha256), { start, end })
    return stored?.body
  }

  #load(siteId: string, representation: Representation): Promise<Uint8Array | undefined> {
    return this.#loads.run(`${siteId}/${representation.key}`, async () => {
      const body = await this.stream(siteId, representation)
      if (!body) return undefined
      const bytes = new Uint8Array(await new Response(body).arrayBuffer())
      this.#keep(siteId, representation.key, bytes)
      return bytes
    })
  }

  #keep(siteId: string, key: string, bytes: Uint8Array): void {
    const contents = this.#contentsOf(siteId)
    if (contents.has(key)) return
    this.#bytes += sizeOf(bytes)
    contents.set(key, bytes)
    for (const [other, held] of this.#sites) {
      if (this.#bytes <= this.#bounds.maxBytes || other === siteId) return
      this.#sites.delete(other)
      held.clear()
    }
  }

  #contentsOf(siteId: string): Contents {
    if (this.#last?.siteId === siteId) return this.#last.contents
    const contents = this.#sites.get(siteId) ?? this.#newContents()
    this.#sites.delete(siteId)
    this.#sites.set(siteId, contents)
    this.#last = { siteId, contents }
    return contents
  }

  #newContents(): Contents {
    return new LRUCache<string, Uint8Array>({
      maxSize: this.#bounds.maxBytesPerSite,
      sizeCalculation: sizeOf,
      dispose: (bytes) => {
        this.#bytes -= sizeOf(bytes)
      },
    })
  }
}

const sizeOf = (bytes: Uint8Array): number => bytes.byteLength + ENTRY_BYTES
