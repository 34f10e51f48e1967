import { posix } from 'node:path'

import type { Position } from './source-map.ts'

/** A place in a bundle, as V8 writes it into stacks. */
export interface BundlePlace extends Position {
  /** As it stands in the text. */
  readonly text: string
  readonly path: string
}

/** What a bundle is called says what is in it: its map is found by its name, whatever has been deployed since. */
const PLACE = /([^\s():'"]+\.[0-9a-f]{12}\.bundle\.[cm]js):(\d{1,9}):(\d{1,9})/g
const MAX_PLACES = 50

const BUNDLE = /\.[0-9a-f]{12}\.bundle\.[cm]js$/

export const isBundle = (path: string): boolean => BUNDLE.test(path)

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
