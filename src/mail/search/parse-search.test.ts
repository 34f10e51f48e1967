import { expect, test } from 'vitest'

import { parseSearch } from './parse-search.ts'

const word = (text: string, negated = false) => ({ kind: 'word', text, negated })
const phrase = (text: string, negated = false) => ({ kind: 'phrase', text, negated })
const prefix = (text: string, negated = false) => ({ kind: 'prefix', text, negated })

test.each([
  ['words', 'two words', [word('two'), word('words')]],
  ['a phrase', '"due date" now', [phrase('due date'), word('now')]],
  ['a phrase without its end', 'a "due date', [word('a'), phrase('due date')]],
  ['a prefix', 'pay*', [prefix('pay')]],
  [
    'what must not be there',
    '-draft -"old one" -pay*',
    [word('draft', true), phrase('old one', true), prefix('pay', true)],
  ],
  [
    'what looks like an operator',
    "a | b & !c <-> ('d':*)",
    [word('a'), word('b'), word('!c'), word("('d':*)")],
  ],
  ['words outside ASCII', 'größe 合同', [word('größe'), word('合同')]],
])('%s are read', (_what, text, terms) => {
  expect(parseSearch(text)).toEqual(terms)
})

test.each([
  ['nothing', ''],
  ['signs alone', '-* "" !?'],
  ['too many words', 'a '.repeat(21)],
  ['too long a text', 'a'.repeat(301)],
  ['a NUL', 'a\0b'],
])('%s is refused', (_what, text) => {
  expect(() => parseSearch(text)).toThrow(/^q: /)
})
