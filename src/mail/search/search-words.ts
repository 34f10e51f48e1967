import { foldText } from './fold-text.ts'
import type { SearchField } from './message-vector.ts'
import { indexedBeginnings, runsOf, indexedWord } from './words.ts'

/** A shorter word is found whole only. */
const MIN_BEGINNING = 4

/** A text that a message must have, or with `negated` must not. */
export interface SearchText {
  readonly kind: 'word' | 'phrase' | 'prefix'
  readonly text: string
  /** Undefined for any of them, and the text. */
  readonly field: SearchField | undefined
  readonly negated: boolean
}

/** One place of what is looked for: one of these words, or one that begins so. */
export interface SearchedWord {
  readonly words: readonly string[]
  readonly isPrefix: boolean
  /** Words after the first one, as the index counts. */
  readonly position: number
}

/** What the text of a term consists of, run by run: a term of several is a phrase. */
export interface SearchedRun {
  readonly text: string
  readonly isUnspaced: boolean
  readonly isPrefix: boolean
}

export function searchedRuns({ kind, text }: SearchText): readonly SearchedRun[] {
  const runs = [...runsOf(foldText(text))]
  return runs.map(({ text: run, isUnspaced }, index) => ({
    text: run,
    isUnspaced,
    isPrefix:
      !isUnspaced &&
      index === runs.length - 1 &&
      (kind === 'prefix' || (kind === 'word' && Array.from(run).length >= MIN_BEGINNING)),
  }))
}

/** The words of the index for the runs of a term. */
export function searchedWords(runs: readonly SearchedRun[]): readonly SearchedWord[] {
  const searched: SearchedWord[] = []
  let position = 0
  for (const run of runs) {
    const words = run.isUnspaced ? pairsOf(run.text) : [wordsAt(run)]
    searched.push(...words.map((each, index) => ({ ...each, position: position + index })))
    position += run.isUnspaced ? Array.from(run.text).length : 1
  }
  return searched
}

const wordsAt = ({ text, isPrefix }: SearchedRun) => ({
  words: isPrefix ? indexedBeginnings(text) : [indexedWord(text)],
  isPrefix,
})

/** One character is where a pair begins with it, or a run ends. */
function pairsOf(run: string) {
  const characters = Array.from(run)
  if (characters.length === 1) return [{ words: [run], isPrefix: true }]
  return characters.slice(1).map((character, index) => ({
    words: [`${characters[index] ?? ''}${character}`],
    isPrefix: false,
  }))
}
