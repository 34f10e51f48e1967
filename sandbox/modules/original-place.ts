import { SourceMap } from 'node:module'

import type { ModuleSource } from '#sandbox/protocol/protocol.ts'

/** Characters of the maps that are kept decoded; each takes about twenty bytes then. */
const KEPT_LENGTH = 1024 * 1024

/** Both from 1, as V8 writes them. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** Decoded maps by their text, the least recently used first. */
const decoded = new Map<string, SourceMap>()
let decodedLength = 0

/** The place in the source of a place in a module's code; the same place when the module is not transformed. */
export function originalPlace({ map: mappings }: Pick<ModuleSource, 'map'>, place: Place): Place {
  if (mappings === undefined) return place
  const found = sourceMapOf(mappings).findEntry(place.line - 1, place.column - 1)
  return 'originalLine' in found && found.originalLine !== undefined
    ? { line: found.originalLine + 1, column: found.originalColumn + 1 }
    : place
}

function sourceMapOf(mappings: string): SourceMap {
  const known = decoded.get(mappings)
  const map = known ?? new SourceMap(payloadOf(mappings))
  if (known) decoded.delete(mappings)
  else decodedLength += mappings.length
  decoded.set(mappings, map)
  for (const [oldest] of decoded) {
    if (decodedLength <= KEPT_LENGTH || oldest === mappings) break
    decoded.delete(oldest)
    decodedLength -= oldest.length
  }
  return map
}

const payloadOf = (mappings: string) => ({
  version: 3,
  file: '',
  sourceRoot: '',
  sources: [''],
  sourcesContent: [],
  names: [],
  mappings,
})

/** Where code of one of the modules was written, as `line:column`. */
export function writtenPlace(
  modules: readonly ModuleSource[],
  path: unknown,
  place: Place,
): string {
  const module = modules.find((one) => one.path === path)
  const { line, column } = originalPlace(module ?? {}, place)
  return `${line}:${column}`
}
