export interface TextRange {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

export interface TextPart {
  readonly text: string
  readonly isMarked: boolean
}

/** The text in pieces, with what a search has found marked. Ranges beyond the text and within another are cut. */
export function markedParts(text: string, ranges: readonly TextRange[] = []): readonly TextPart[] {
  const parts: TextPart[] = []
  let at = 0
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    const [from, to] = [Math.max(at, start), Math.min(text.length, end)]
    if (from >= to) continue
    parts.push({ text: text.slice(at, from), isMarked: false })
    parts.push({ text: text.slice(from, to), isMarked: true })
    at = to
  }
  parts.push({ text: text.slice(at), isMarked: false })
  return parts.filter((part) => part.text !== '')
}
