/** Scripts that are written without blanks between words, and Korean, which joins particles to them. */
const UNSPACED =
  '\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}\\p{sc=Bopo}\\p{sc=Yiii}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Mymr}\\p{sc=Khmr}\u30FC\u3099\u309A'
const LETTER = '\\p{L}\\p{M}\\p{N}'
export const UNSPACED_CLASS = `[[${UNSPACED}]&&[${LETTER}]]`
export const SPACED_CLASS = `[[${LETTER}]--[${UNSPACED}]]`
/** Mail breaks lines inside of words of these scripts. */
const LINE_BREAK = '[ \\t]*\\r?\\n[ \\t]*'

const RUNS = new RegExp(
  `(${UNSPACED_CLASS}+(?:${LINE_BREAK}${UNSPACED_CLASS}+)*)|${SPACED_CLASS}+`,
  'gv',
)
const ASCII_RUNS = /[a-z0-9]+/g
const NOT_ASCII = /[^\0-\x7F]/

/** The Arabic article, alone and after what is joined to it. */
export const ARABIC_ARTICLE = '(?:[\u0648\u0641\u0628\u0643\u0644]?\u0627\u0644|\u0644\u0644)'
const ARTICLE = new RegExp(`^${ARABIC_ARTICLE}(?=.{3})`)
const ARTICLE_BEFORE_ANY = new RegExp(`^${ARABIC_ARTICLE}(?=.)`)

/** A longer word counts by its beginning. */
const MAX_WORD = 128

/** Letters, digits and their marks without anything between. */
export interface Run {
  readonly text: string
  /** Of a script without blanks: found by any part of it. */
  readonly isUnspaced: boolean
}

/** What a folded text consists of, in its order. */
export function* runsOf(folded: string): Generator<Run> {
  if (!NOT_ASCII.test(folded)) {
    for (const [text] of folded.matchAll(ASCII_RUNS)) yield { text, isUnspaced: false }
    return
  }
  for (const [text, unspaced] of folded.matchAll(RUNS)) {
    yield unspaced === undefined
      ? { text, isUnspaced: false }
      : { text: unspaced.replaceAll(/\s+/g, ''), isUnspaced: true }
  }
}

/** The word as it is indexed. */
export const indexedWord = (run: string): string => cut(run.replace(ARTICLE, ''))

/** What the words that begin so begin with in the index: the article is not there, and may be all that was typed of it. */
export const indexedBeginnings = (run: string): readonly string[] => [
  ...new Set([cut(run), cut(run.replace(ARTICLE_BEFORE_ANY, ''))]),
]

function cut(word: string): string {
  return word.length <= MAX_WORD ? word : word.slice(0, MAX_WORD).replace(/[\uD800-\uDBFF]$/, '')
}
