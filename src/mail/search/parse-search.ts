import { invalid } from '#base/app-error.ts'

import { FIELDS, type SearchField } from './message-vector.ts'
import { type SearchText, searchedRuns } from './search-words.ts'

const MAX_CHARACTERS = 300
const MAX_TERMS = 20

const FILTERS = ['in', 'is', 'before', 'after'] as const
const OPERATORS = [...Object.keys(FIELDS), 'has', ...FILTERS]
const KNOWN = OPERATORS.join('|')
/** What mail programs put before a subject, and links before an address. */
const TEXTS = 're|fwd?|aw|wg|sv|vs|antw|tr|mailto|tel'
/** `from:eve`, also after a blank; an unknown name only right before what may be its value, unlike `10:30` and `http://`. */
const TOKENS = new RegExp(
  `(-?)(?:(${KNOWN}):\\s*|(?!(?:${TEXTS}):)([a-z]{2,20}):(?=["\\p{L}\\p{N}]))?(?:"([^"]*)"?|([^\\s"]+))`,
  'giu',
)
/** As telephones write quotes. */
const CURLY_QUOTES = /[\u201C-\u201F]/g
const WITHOUT_VALUE = new RegExp(`^(?:${KNOWN}):$`, 'i')

/** A property that is indexed with the words. */
interface SearchProperty {
  readonly kind: 'attachment'
  readonly negated: boolean
}

export type SearchTerm = SearchText | SearchProperty

/** What the list itself filters by. */
export interface SearchFilter {
  readonly name: (typeof FILTERS)[number]
  readonly value: string
  readonly negated: boolean
}

interface Search {
  readonly terms: readonly SearchTerm[]
  readonly filters: readonly SearchFilter[]
}

/** `invoice "due date" pay* -draft from:eve is:unread`: all of it must hold. */
export function parseSearch(query: string): Search {
  if (query.length > MAX_CHARACTERS || query.includes('\0')) {
    throw invalid('q', `must be at most ${MAX_CHARACTERS} characters, none of them NUL`)
  }
  const tokens = [...query.replaceAll(CURLY_QUOTES, '"').matchAll(TOKENS)].map(tokenOf)
  const terms = tokens.flatMap(termsOf)
  const filters = tokens.flatMap(filtersOf)
  const count = terms.length + filters.length
  if (count === 0) throw invalid('q', 'has no word to look for')
  if (count > MAX_TERMS) throw invalid('q', `must be at most ${MAX_TERMS} words and operators`)
  return { terms, filters }
}

interface Token {
  readonly negated: boolean
  readonly operator: string | undefined
  readonly phrase: string | undefined
  readonly word: string
}

function tokenOf([whole, sign, known, unknown, phrase, word = '']: RegExpExecArray): Token {
  if (unknown !== undefined) {
    throw invalid(
      'q',
      `has the unknown operator "${unknown}:"; there are ${OPERATORS.map((name) => `"${name}:"`).join(', ')}. ` +
        `To search for it as text, write it in quotes: "${whole.replace(/^-/, '').replaceAll('"', '')}"`,
    )
  }
  if (WITHOUT_VALUE.test(word)) throw invalid('q', `has nothing after "${word}"`)
  return { negated: sign === '-', operator: known?.toLowerCase(), phrase: phrase?.trim(), word }
}

function termsOf(token: Token): readonly SearchTerm[] {
  const { operator, negated, phrase, word } = token
  if (operator === 'has') {
    if (/^attachments?$/i.test(phrase ?? word)) return [{ kind: 'attachment', negated }]
    throw invalid('q', `has "has:${phrase ?? word}"; there is "has:attachment"`)
  }
  if (operator !== undefined && !isField(operator)) return []
  const text = textOf(token, operator)
  if (searchedRuns(text).length > 0) return [text]
  // A word without a letter or digit means nothing.
  if (operator === undefined) return []
  throw invalid('q', `has no word to look for after "${operator}:"`)
}

function textOf({ negated, phrase, word }: Token, field: SearchField | undefined): SearchText {
  if (phrase !== undefined) return { kind: 'phrase', text: phrase, field, negated }
  // Nearly every message has such a word.
  if (field === undefined && /^[a-z]\*+$/i.test(word)) {
    throw invalid('q', `needs at least two letters before the star of "${word}"`)
  }
  return word.endsWith('*')
    ? { kind: 'prefix', text: word.replace(/\*+$/, ''), field, negated }
    : { kind: 'word', text: word, field, negated }
}

function filtersOf({ operator, phrase, word, negated }: Token): readonly SearchFilter[] {
  const name = FILTERS.find((filter) => filter === operator)
  return name === undefined ? [] : [{ name, value: phrase ?? word, negated }]
}

const isField = (operator: string): operator is SearchField => operator in FIELDS
