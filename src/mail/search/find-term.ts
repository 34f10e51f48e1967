import type { SearchedRun } from './search-words.ts'
import { ARABIC_ARTICLE, SPACED_CLASS, UNSPACED_CLASS } from './words.ts'

const SPACED = new RegExp(`^${SPACED_CLASS}`, 'v')
const UNSPACED = new RegExp(`^${UNSPACED_CLASS}`, 'v')
const ARTICLE = new RegExp(`^${ARABIC_ARTICLE}$`)
const ARABIC = /^[\u0600-\u06FF]/
const ARTICLE_LENGTHS = [3, 2]
/** Blanks, and a line broken inside of a word, are no difference in scripts without blanks. */
const MAX_GAP = 4
/** Of one text, about 3 ms: what is searched for and what is in the text may be such that nearly all of it is compared many times. */
const MAX_STEPS = 60_000

/** Of a folded text: from `start` up to `end`. */
export interface FoundTerm {
  readonly start: number
  readonly end: number
}

/** The work that may still be done for one text. */
export class SearchSteps {
  #left = MAX_STEPS

  /** False once there are no more. */
  take(): boolean {
    this.#left -= 1
    return this.#left >= 0
  }
}

/**
 * Where in a folded text the runs follow each other, at `from` or later. By hand, because a pattern would have to be compiled for
 * each search: with classes of all letters that takes milliseconds a word. Finds nothing more once the steps are taken.
 */
export function findTerm(
  folded: string,
  runs: readonly SearchedRun[],
  from: number,
  steps: SearchSteps,
): FoundTerm | undefined {
  const [first] = runs
  if (first === undefined) return undefined
  const sought = first.isUnspaced ? characterAt(first.text, 0) : first.text
  for (let at = folded.indexOf(sought, from); at >= 0; at = folded.indexOf(sought, at + 1)) {
    if (!steps.take()) return undefined
    const start = first.isUnspaced ? at : startOfWord(folded, at)
    if (start === undefined || start < from) continue
    const end = endOfAll(folded, runs, at, steps)
    if (end !== undefined) return { start, end }
  }
  return undefined
}

/** The end of the last run, where the first one starts there and the others follow. */
function endOfAll(
  folded: string,
  [first, ...others]: readonly SearchedRun[],
  at: number,
  steps: SearchSteps,
): number | undefined {
  let end = first && endOfRun(folded, first, at, steps)
  for (const run of others) {
    if (end === undefined) return undefined
    end = endOfNext(folded, run, end, steps)
  }
  return end
}

/** The end of a run that comes next, whatever is between that is in no word. */
function endOfNext(
  folded: string,
  run: SearchedRun,
  from: number,
  steps: SearchSteps,
): number | undefined {
  let at = from
  while (at < folded.length && !isSpaced(folded, at) && !isUnspaced(folded, at)) {
    if (!steps.take()) return undefined
    at += characterAt(folded, at).length
  }
  if (run.isUnspaced || folded.startsWith(run.text, at)) return endOfRun(folded, run, at, steps)
  const length = ARTICLE_LENGTHS.find(
    (each) => ARTICLE.test(folded.slice(at, at + each)) && folded.startsWith(run.text, at + each),
  )
  return length === undefined ? undefined : endOfRun(folded, run, at + length, steps)
}

/** The end of a run that starts there. */
function endOfRun(
  folded: string,
  run: SearchedRun,
  at: number,
  steps: SearchSteps,
): number | undefined {
  if (run.isUnspaced) return endOfUnspaced(folded, run.text, at, steps)
  let end = at + run.text.length
  if (!isSpaced(folded, end)) return end
  if (!run.isPrefix) return undefined
  while (isSpaced(folded, end)) {
    if (!steps.take()) return undefined
    end += characterAt(folded, end).length
  }
  return end
}

function endOfUnspaced(
  folded: string,
  text: string,
  at: number,
  steps: SearchSteps,
): number | undefined {
  let end = at
  for (const character of text) {
    if (!steps.take()) return undefined
    if (end > at) end += gapAt(folded, end)
    if (!folded.startsWith(character, end)) return undefined
    end += character.length
  }
  return end
}

const gapAt = (folded: string, at: number): number =>
  /^\s*/.exec(folded.slice(at, at + MAX_GAP))?.[0].length ?? 0

/** Where the word starts that has this as its beginning, or behind the Arabic article; undefined inside of another word. */
function startOfWord(folded: string, at: number): number | undefined {
  if (!isSpacedBefore(folded, at)) return at
  if (!ARABIC.test(folded.slice(at, at + 1))) return undefined
  const length = ARTICLE_LENGTHS.find(
    (each) =>
      at >= each && ARTICLE.test(folded.slice(at - each, at)) && !isSpacedBefore(folded, at - each),
  )
  return length === undefined ? undefined : at - length
}

const characterAt = (text: string, at: number): string =>
  String.fromCodePoint(text.codePointAt(at) ?? 0)

function isSpaced(folded: string, at: number): boolean {
  const code = folded.charCodeAt(at)
  // Most are ASCII; beyond the end there is NaN.
  if (!(code >= 0x80)) return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)
  return SPACED.test(folded.slice(at, at + 2))
}

function isUnspaced(folded: string, at: number): boolean {
  return folded.charCodeAt(at) >= 0x80 && UNSPACED.test(folded.slice(at, at + 2))
}

function isSpacedBefore(folded: string, at: number): boolean {
  const isPair = /^[\uDC00-\uDFFF]/.test(folded.slice(at - 1, at))
  return at > 0 && isSpaced(folded, at - (isPair ? 2 : 1))
}
