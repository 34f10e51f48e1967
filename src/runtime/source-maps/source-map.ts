import { setImmediate as othersRun } from 'node:timers/promises'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { type Mappings, NUMBERS, decodeMappings } from './mappings.ts'

/** A file's source map, ready to be asked. */
export interface SourceMap {
  /** Relative to the folder of the file. */
  readonly sources: readonly string[]
  /** The texts of those that the map brings. */
  readonly contents: readonly (string | null)[]
  readonly mappings: Mappings
}

/** Both from 1, as V8 writes them. */
export interface Position {
  readonly line: number
  readonly column: number
}

const Format = Type.Object({
  version: Type.Literal(3),
  sources: Type.Array(Type.String(), { maxItems: 20_000 }),
  sourcesContent: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Null()]))),
  mappings: Type.String(),
})

/** Reads a source map that a site brought; undefined when it is none. Others run meanwhile. */
export async function readSourceMap(text: string): Promise<SourceMap | undefined> {
  const content = parsed(text)
  if (!Value.Check(Format, content)) return undefined
  const decoding = decodeMappings(content.mappings)
  for (;;) {
    const step = decoding.next()
    if (step.done !== true) {
      await othersRun()
      continue
    }
    const { sources, sourcesContent: contents = [] } = content
    return step.value && { sources, contents, mappings: step.value }
  }
}

export interface OriginalPosition extends Position {
  readonly source: string
  /** The text of the source, if the map brings it. */
  readonly content: string | undefined
}

/** Where what stands at a position came from; undefined for what the bundler added. */
export function originalPosition(
  { sources, contents, mappings }: SourceMap,
  { line, column }: Position,
): OriginalPosition | undefined {
  const at = lastSegment(mappings, line - 1, column - 1)
  if (at < 0) return undefined
  const [, sourceIndex = -1, sourceLine = 0, sourceColumn = 0] = mappings.segments.subarray(
    at * NUMBERS,
    (at + 1) * NUMBERS,
  )
  const source = sources[sourceIndex]
  return source === undefined
    ? undefined
    : {
        source,
        line: sourceLine + 1,
        column: sourceColumn + 1,
        content: contents[sourceIndex] ?? undefined,
      }
}

/** Roughly what it keeps in memory, in bytes. */
export const sizeOfMap = ({ sources, contents, mappings }: SourceMap): number =>
  mappings.segments.byteLength +
  mappings.lineStarts.byteLength +
  [...sources, ...contents].reduce((sum, text) => sum + (text?.length ?? 0) * 2 + 16, 256)

/** The last one on the line that does not begin after the column; -1 when there is none. */
function lastSegment({ lineStarts, segments }: Mappings, line: number, column: number): number {
  const first = lineStarts[line]
  const end = lineStarts[line + 1]
  if (first === undefined || end === undefined) return -1
  let [low, high] = [first, end]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((segments[middle * NUMBERS] ?? 0) <= column) low = middle + 1
    else high = middle
  }
  return low - 1 < first ? -1 : low - 1
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
