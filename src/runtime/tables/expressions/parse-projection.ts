import type { DocumentPath } from './document-path.ts'
import { parsePath } from './parse-path.ts'
import { StaticErrors } from './static-errors.ts'
import { TokenReader } from './token-reader.ts'

const KEYWORDS: ReadonlySet<string> = new Set()

/** Parses a list of document paths. */
export function parseProjection(text: string): readonly DocumentPath[] {
  const reader = new TokenReader(text, KEYWORDS)
  const faults = new StaticErrors()
  const paths = [parsePath(reader, faults)]
  while (reader.take(',')) paths.push(parsePath(reader, faults))
  reader.expectKind('end')
  faults.throwFirstOfCondition()
  return paths
}
