import { LRUCache } from 'lru-cache'

import { SingleFlight } from '#base/single-flight.ts'
import type { ByteRange, ObjectStore } from '#platform/objects/object-store.ts'
import { artifactKey } from '#sites/deployments/artifacts.ts'

import { encodedKey } from './encoded-files.ts'
import type { Representation } from './routes.ts'

const MAX_BYTES = 128 * 1024 * 1024
const MAX_BYTES_PER_SITE = 32 * 1024 * 1024
/** Longer files are streamed from the object store each time. */
const MAX_FILE_BYTES = 1024 * 1024
const ENTRY_BYTES = 512

type Contents = LRUCache<string, Uint8Array>

export interface StaticContentsDeps {
  readonly objects: Pick<ObjectStore, 'get' | 'head' | 'blob'>
}

/** What a response takes. */
export type StaticBody = Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>

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

  /** Straight from the object store, in one piece where it is short. Undefined when the store has it no more. */
  async read(
    siteId: string,
    { encoding, sha256, offset, sizeBytes }: Representation,
    range: Required<ByteRange> = { start: 0, end: sizeBytes - 1 },
  ): Promise<StaticBody | undefined> {
    const { objects } = this.#deps
    const key = encoding === undefined ? artifactKey(siteId, sha256) : encodedKey(siteId, sha256)
    const part = { start: offset + range.start, end: offset + range.end }
    if (range.end - range.start >= MAX_FILE_BYTES) {
      const head = await objects.head(key)
      const blob = head && (await objects.blob(key, head.etag, part))
      return blob ?? (await objects.get(key, part))?.body
    }
    const stored = await objects.get(key, sizeBytes === 0 ? undefined : part)
    return stored && new Uint8Array(await new Response(stored.body).arrayBuffer())
  }

  #load(siteId: string, representation: Representation): Promise<Uint8Array | undefined> {
    return this.#loads.run(`${siteId}/${representation.key}`, async () => {
      const bytes = await this.read(siteId, representation)
      if (!(bytes instanceof Uint8Array)) return undefined
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
