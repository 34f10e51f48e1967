import type { DocumentPath } from './document-path.ts'
import type { StaticErrors } from './static-errors.ts'
import type { TokenReader } from './token-reader.ts'

/** Parses `a.#b[3].c`. */
export function parsePath(reader: TokenReader, faults: StaticErrors): DocumentPath {
  return parsePathAfter(reader, faults, [parseName(reader, faults)])
}

/** Parses what may follow the first part of a path. */
export function parsePathAfter(
  reader: TokenReader,
  faults: StaticErrors,
  start: DocumentPath,
): DocumentPath {
  const parts = [...start]
  for (;;) {
    if (reader.take('.')) parts.push(parseName(reader, faults))
    else if (reader.take('[')) parts.push(parseIndex(reader, faults))
    else break
  }
  faults.checkPathLength(parts.length)
  return parts
}

function parseName(reader: TokenReader, faults: StaticErrors): string {
  if (reader.current.kind === 'name') return reader.next().text
  const name = reader.expectKind('identifier').text
  faults.checkName(name)
  return name
}

function parseIndex(reader: TokenReader, faults: StaticErrors): number {
  const digits = reader.expectKind('integer').text
  reader.expect(']')
  faults.checkIndex(digits)
  return Number(digits)
}
