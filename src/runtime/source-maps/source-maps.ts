import { posix } from 'node:path'

import { LRUCache } from 'lru-cache'

import { Limiter } from '#base/limiter.ts'
import { LoadingCache } from '#base/loading-cache.ts'
import type { Logger } from '#platform/log/logger.ts'

import {
  type Position,
  type SourceMap,
  originalPosition,
  readSourceMap,
  sizeOfMap,
} from './source-map.ts'

const KEPT_BYTES = 64 * 1024 * 1024

/** A site that has more maps than these read in a minute sees the bundle's own places until then. */
const READS_PER_MINUTE = 30
const COUNTED_SITES = 10_000

/** A map that cannot be read is not read again and again. */
const UNREADABLE: SourceMap = {
  sources: [],
  contents: [],
  mappings: { lineStarts: new Int32Array(0), segments: new Int32Array(0) },
}

/** What a bundle is called says what is in it: its map is found by its name, whatever has been deployed since. */
const PLACE = /([^\s():'"]+\.[0-9a-f]{12}\.bundle\.[cm]js):(\d{1,9}):(\d{1,9})/g
const MAX_PLACES = 50

const BUNDLE = /\.[0-9a-f]{12}\.bundle\.[cm]js$/

/** A place in a file of an artifact. */
export interface CodePlace extends Position {
  readonly path: string
}

export interface OriginalPlace extends CodePlace {
  /** The text of the file as it was written, if its map brings it. */
  readonly content: string | undefined
}

/** A place in a bundle, as V8 writes it into stacks. */
interface BundlePlace extends Position {
  /** As it is in the text. */
  readonly text: string
  readonly path: string
}

/** Says of code in bundles where it came from. */
export class SourceMaps {
  readonly #deps
  readonly #maps = new LoadingCache<string, SourceMap>({
    entries: { maxSize: KEPT_BYTES, sizeCalculation: sizeOfMap },
  })
  readonly #reads = new LRUCache<string, number>({
    max: COUNTED_SITES,
    ttl: 60_000,
    noUpdateTTL: true,
  })
  /** One at a time: reading a large one takes a core for a tenth of a second. */
  readonly #turns = new Limiter({ permits: 1, refuse: () => new Error('no request is refused') })

  constructor(deps: {
    readonly logger: Logger
    /** The text of a file's source map among the site's deployments; undefined when there is none, or one that is too long. */
    readSourceMap(siteId: string, path: string): Promise<string | undefined>
  }) {
    this.#deps = deps
  }

  /** Replaces the places in bundles by those of the sources. Places whose map is not loaded stay; it never rejects. */
  async locate(siteId: string, text: string): Promise<string> {
    const places = bundlePlaces(text)
    if (places.length === 0) return text
    const originals = new Map<string, string>()
    for (const place of places) {
      const original = await this.original(siteId, place)
      if (original)
        originals.set(place.text, `${original.path}:${original.line}:${original.column}`)
    }
    return withOriginalPlaces(text, originals)
  }

  /** The source place of a place in a bundle; undefined for other files, and where the map is not loaded. */
  async original(siteId: string, place: CodePlace): Promise<OriginalPlace | undefined> {
    const map = isBundle(place.path) ? await this.#mapOf(siteId, place.path) : undefined
    const found = map && originalPosition(map, place)
    return found && { ...found, path: sourcePath(place.path, found.source) }
  }

  async #mapOf(siteId: string, path: string): Promise<SourceMap | undefined> {
    const key = `${siteId} ${path}`
    const known = this.#maps.getIfPresent(key)
    if (known) return known
    const reads = this.#reads.get(siteId) ?? 0
    if (reads >= READS_PER_MINUTE) return undefined
    this.#reads.set(siteId, reads + 1)
    try {
      return await this.#maps.get(key, () =>
        this.#turns.run(() => this.#read(siteId, path), { key: siteId }),
      )
    } catch (error) {
      this.#deps.logger.warn({ siteId, path, err: error }, 'a source map could not be read')
      return undefined
    }
  }

  async #read(siteId: string, path: string): Promise<SourceMap> {
    const text = await this.#deps.readSourceMap(siteId, path)
    return (text === undefined ? undefined : await readSourceMap(text)) ?? UNREADABLE
  }
}

const isBundle = (path: string): boolean => BUNDLE.test(path)

/** The places in bundles that a text names, each once. */
export function bundlePlaces(text: string): readonly BundlePlace[] {
  if (!text.includes('.bundle.')) return []
  const places = new Map<string, BundlePlace>()
  for (const [found, path = '', line, column] of text.matchAll(PLACE)) {
    if (places.size === MAX_PLACES) break
    places.set(found, { text: found, path, line: Number(line), column: Number(column) })
  }
  return [...places.values()]
}

/** Puts the places where things came from into a text that names them. */
export const withOriginalPlaces = (text: string, originals: ReadonlyMap<string, string>): string =>
  text.replaceAll(PLACE, (found) => originals.get(found) ?? found)

/** A source of a bundle as people know it: from the artifact directory, or what is above it without the way there. */
export const sourcePath = (bundlePath: string, source: string): string =>
  posix.join(posix.dirname(bundlePath), source).replace(/^(?:\.\.\/)+/, '')
