import { invalid } from '#base/app-error.ts'

const MAX_CHARACTERS = 300
const MAX_TERMS = 20

/** One thing that a message must have, or with `negated` must not. */
export interface SearchTerm {
  readonly kind: 'word' | 'phrase' | 'prefix'
  readonly text: string
  readonly negated: boolean
}

/** `invoice "due date" pay* -draft`: all words, the phrase, any word that begins so, and not the last. */
export function parseSearch(query: string): readonly SearchTerm[] {
  if (query.length > MAX_CHARACTERS || query.includes('\0')) {
    throw invalid('q', `must be at most ${MAX_CHARACTERS} characters, none of them NUL`)
  }
  const terms = [...query.matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g)].flatMap(
    ([, sign, phrase, word]) => termOf(sign === '-', phrase, word),
  )
  if (terms.length === 0) throw invalid('q', 'has no word to look for')
  if (terms.length > MAX_TERMS) throw invalid('q', `must be at most ${MAX_TERMS} words`)
  return terms
}

function termOf(
  negated: boolean,
  phrase: string | undefined,
  word: string | undefined,
): readonly SearchTerm[] {
  if (phrase !== undefined) return named({ kind: 'phrase', text: phrase.trim(), negated })
  const text = word ?? ''
  return text.endsWith('*')
    ? named({ kind: 'prefix', text: text.replace(/\*+$/, ''), negated })
    : named({ kind: 'word', text, negated })
}

/** A term without a letter or digit means nothing. */
const named = (term: SearchTerm): readonly SearchTerm[] =>
  /[\p{L}\p{N}]/u.test(term.text) ? [term] : []
