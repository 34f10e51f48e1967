import { type FoundTerm, findTerm, SearchSteps } from './find-term.ts'
import { foldText, foldWithOffsets } from './fold-text.ts'
import type { SearchTerm } from './parse-search.ts'
import { type SearchedRun, type SearchText, searchedRuns } from './search-words.ts'

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
  readonly #terms: readonly (readonly SearchedRun[])[]

  /** Those terms that may be in such a text: those of one field are in no other. */
  constructor(terms: readonly SearchTerm[], field?: SearchText['field']) {
    this.#terms = terms
      .flatMap((term) => (term.kind === 'attachment' || term.negated ? [] : [term]))
      .filter((term) => term.field === undefined || term.field === field)
      .map(searchedRuns)
  }

  /** Whether it marks nothing. */
  get isEmpty(): boolean {
    return this.#terms.length === 0
  }

  /** The first ones, of those that are found in time. None is in another: of several at one place the longest is marked. */
  rangesIn(text: string): MatchRange[] {
    if (this.isEmpty) return []
    const { folded, offsets } = foldWithOffsets(text)
    const steps = new SearchSteps()
    const found = this.#terms
      .flatMap((runs) => allOf(folded, runs, steps))
      .toSorted((one, other) => one.start - other.start || other.end - one.end)
    const ranges: MatchRange[] = []
    let last = 0
    for (const { start, end } of found) {
      if (start < last) continue
      last = end
      ranges.push({ start: offsets[start] ?? 0, end: endOf(offsets, end) })
      if (ranges.length === MAX_RANGES) break
    }
    return ranges
  }

  /** A line of the text around its first match; undefined when there is none, or it takes too long to find. */
  excerptOf(text: string): string | undefined {
    const start = this.#firstIn(text)
    return start === undefined ? undefined : excerptAround(text, start)
  }

  #firstIn(text: string): number | undefined {
    if (this.isEmpty) return undefined
    const parts = partsOf(text).map((part) => ({ part, folded: foldText(part) }))
    const whole = parts.map(({ folded }) => folded).join('')
    const steps = new SearchSteps()
    const places = this.#terms.flatMap((runs) => findTerm(whole, runs, 0, steps)?.start ?? [])
    if (places.length === 0) return undefined
    let left = Math.min(...places)
    let start = 0
    for (const { part, folded } of parts) {
      if (left < folded.length) return start + (foldWithOffsets(part).offsets[left] ?? 0)
      left -= folded.length
      start += part.length
    }
    return undefined
  }
}

function allOf(
  folded: string,
  runs: readonly SearchedRun[],
  steps: SearchSteps,
): readonly FoundTerm[] {
  const found: FoundTerm[] = []
  let next = findTerm(folded, runs, 0, steps)
  while (next !== undefined && found.length < MAX_RANGES) {
    found.push(next)
    next = findTerm(folded, runs, next.end, steps)
  }
  return found
}

/** The end of a cluster of which the match has the last part. */
function endOf(offsets: readonly number[], end: number): number {
  const last = offsets[end - 1]
  return offsets.slice(end).find((offset) => offset !== last) ?? offsets.at(-1) ?? 0
}

/** A letter or digit is folded alone, unless it is a part of a Korean syllable or a halfwidth mark. */
const FOLDED_ALONE = /(?![\u0640\u1100-\u11FF\uFF9E\uFF9F])[\p{L}\p{N}]/u

function partsOf(text: string): readonly string[] {
  const parts: string[] = []
  let start = 0
  while (text.length - start > 2 * PART) {
    const rest = text.slice(start + PART, start + 2 * PART).search(FOLDED_ALONE)
    if (rest < 0) break
    const end = start + PART + rest
    parts.push(text.slice(start, end))
    start = end
  }
  return [...parts, text.slice(start)]
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
