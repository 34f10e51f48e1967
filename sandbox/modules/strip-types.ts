import { stripTypeScriptTypes } from 'node:module'

import type { SourceFault } from '#sandbox/protocol/protocol.ts'

import { BrokenParser, Refusal, tooDeep } from './refusal.ts'

/** Node puts the place at the start of the stack: `path:line`, then the line with marks below what is wrong. */
const PLACE = /^[^\n]*:(\d+)\n/
const TAB_WIDTH = 4
const MARKS = /\n( *)\^+\n/

/** What the source says is TypeScript that cannot be read at all. */
const INVALID = 'ERR_INVALID_TYPESCRIPT_SYNTAX'
/** It is TypeScript that is more than types. */
const UNSUPPORTED = 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'

/** The code with blanks in place of its types, so that everything stays where it is; undefined when it has more than types. */
export function stripTypes(path: string, source: string): string | undefined {
  try {
    return stripTypeScriptTypes(source, { sourceUrl: undefined, mode: 'strip' })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const code = 'code' in error ? error.code : undefined
    if (code === UNSUPPORTED) return undefined
    if (code !== INVALID) throw new BrokenParser(tooDeep(path))
    throw new Refusal({ message: error.message, path, ...placeOf(String(error.stack), source) })
  }
}

function placeOf(stack: string, source: string): Pick<SourceFault, 'line' | 'column'> {
  const line = Number(PLACE.exec(stack)?.[1])
  const text = source.split(/\r\n|[\n\r]/)[line - 1]
  if (text === undefined) return {}
  // What is wrong at the end of a line has no marks.
  const marked = MARKS.exec(stack)?.[1]?.length ?? Infinity
  return { line, column: columnOf(text, marked) }
}

/** The column in a line of what is `width` characters from its start where tabs are shown as blanks. */
function columnOf(text: string, width: number): number {
  let shown = 0
  let column = 1
  for (; column <= text.length && shown < width; column += 1) {
    shown += text.charAt(column - 1) === '\t' ? TAB_WIDTH : 1
  }
  return column
}
