import { foldText, foldWithOffsets } from './fold-text.ts'
import type { SearchTerm } from './parse-search.ts'
import { type SearchedRun, type SearchText, searchedRuns } from './search-words.ts'
import { ARABIC_ARTICLE, SPACED_CLASS, UNSPACED_CLASS } from './words.ts'

const MAX_RANGES = 50
/** Of an excerpt, and of what is shown before its match. */
const EXCERPT_CHARACTERS = 200
const BEFORE_MATCH = 50
/** An excerpt begins at the next word, if there is one so near. */
const NEXT_WORD = 20
/** Texts are folded by parts of about this length, so that only one has to be looked at closely. */
const PART = 1000

/** Of a text, in UTF-16 units: from `start` up to `end`. */
export interface MatchRange {
  readonly start: number
  readonly end: number
}

/** Finds in texts what a search has found in their words. */
export class MatchMarker {
  readonly #pattern: RegExp | undefined

  /** Those terms that may be in such a text: those of one field are in no other. */
  constructor(terms: readonly SearchTerm[], field?: SearchText['field']) {
    const sources = terms
      .flatMap((term) => (term.kind === 'attachment' || term.negated ? [] : [term]))
      .filter((term) => term.field === undefined || term.field === field)
      .map((term) => searchedRuns(term).map(sourceOf).join(''))
      // The longest first: of several at one place that one is marked.
      .toSorted((one, other) => other.length - one.length)
    this.#pattern = sources.length === 0 ? undefined : new RegExp(sources.join('|'), 'gv')
  }

  /** Whether it marks nothing. */
  get isEmpty(): boolean {
    return this.#pattern === undefined
  }

  /** The first ones. */
  rangesIn(text: string): MatchRange[] {
    if (this.#pattern === undefined) return []
    const { folded, offsets } = foldWithOffsets(text)
    const ranges: MatchRange[] = []
    for (const { 0: match, index } of folded.matchAll(this.#pattern)) {
      const start = offsets[index] ?? 0
      ranges.push({ start, end: endOf(offsets, index + match.length) })
      if (ranges.length === MAX_RANGES) break
    }
    return ranges
  }

  /** A line of the text around its first match; undefined when there is none. */
  excerptOf(text: string): string | undefined {
    const start = this.#firstIn(text)
    return start === undefined ? undefined : excerptAround(text, start)
  }

  #firstIn(text: string): number | undefined {
    if (this.#pattern === undefined) return undefined
    const parts = partsOf(text).map((part) => ({ part, folded: foldText(part) }))
    const whole = parts.map(({ folded }) => folded).join('')
    let left = whole.search(this.#pattern)
    if (left < 0) return undefined
    let start = 0
    for (const { part, folded } of parts) {
      if (left < folded.length) return start + (foldWithOffsets(part).offsets[left] ?? 0)
      left -= folded.length
      start += part.length
    }
    return undefined
  }
}

/** The end of a cluster of which the match has the last part. */
function endOf(offsets: readonly number[], end: number): number {
  const last = offsets[end - 1]
  return offsets.slice(end).find((offset) => offset !== last) ?? offsets.at(-1) ?? 0
}

/** Cut where no character is apart from its marks. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = []
  let start = 0
  while (text.length - start > 2 * PART) {
    const blank = text.slice(start + PART, start + 2 * PART).search(/\s[\p{L}\p{N}]/u)
    if (blank < 0) break
    const end = start + PART + blank + 1
    parts.push(text.slice(start, end))
    start = end
  }
  return [...parts, text.slice(start)]
}

/** Blanks, and lines broken inside of a word, are no difference. */
const GAP = '\\s{0,4}'

/** What a run looks like in a folded text; with what is between it and the run before. */
function sourceOf({ text, isUnspaced, isPrefix }: SearchedRun, index: number): string {
  const between = index === 0 ? '' : `[^${SPACED_CLASS}${UNSPACED_CLASS}]*`
  if (isUnspaced) return between + Array.from(text).join(GAP)
  const article = /^[\u0600-\u06FF]/.test(text) ? `${ARABIC_ARTICLE}?` : ''
  const rest = isPrefix ? `${SPACED_CLASS}*` : `(?!${SPACED_CLASS})`
  return `${between}(?<!${SPACED_CLASS})${article}${text}${rest}`
}

function excerptAround(text: string, match: number): string {
  const earliest = Math.max(0, match - BEFORE_MATCH)
  const skipped = earliest === 0 ? 0 : text.slice(earliest, earliest + NEXT_WORD).search(/\s/) + 1
  const start = wholeAt(text, earliest + skipped)
  const end = wholeAt(text, start + EXCERPT_CHARACTERS)
  const line = text.slice(start, end).replaceAll(/\s+/g, ' ').trim()
  return `${start > 0 ? '…' : ''}${line}${end < text.length ? '…' : ''}`
}

/** Never inside of a surrogate pair. */
const wholeAt = (text: string, index: number): number =>
  /^[\uDC00-\uDFFF]/.test(text.slice(index, index + 1)) ? index + 1 : index
