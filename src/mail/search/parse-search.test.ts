import fc from 'fast-check'
import { expect, test } from 'vitest'

import { parseSearch } from './parse-search.ts'

const term =
  (kind: 'word' | 'phrase' | 'prefix') =>
  (text: string, negated = false, field?: string) => ({ kind, text, field, negated })
const [word, phrase, prefix] = [term('word'), term('phrase'), term('prefix')]

test.each([
  ['words', 'two words', [word('two'), word('words')]],
  ['a phrase', '"due date" now', [phrase('due date'), word('now')]],
  [
    'a phrase in curly quotes',
    '“due date” from:„Ann Lee“',
    [phrase('due date'), phrase('Ann Lee', false, 'from')],
  ],
  ['a phrase without its end', 'a "due date', [word('a'), phrase('due date')]],
  ['a prefix', 'pay*', [prefix('pay')]],
  [
    'what must not be there',
    '-draft -"old one" -pay*',
    [word('draft', true), phrase('old one', true), prefix('pay', true)],
  ],
  [
    'what looks like an operator of Postgres',
    "a | b & !c <-> ('d':*)",
    [word('a'), word('b'), word('!c'), word("('d':*)")],
  ],
  ['words outside ASCII', 'größe 合同', [word('größe'), word('合同')]],
  [
    'fields',
    'from:eve -to:"Ann Lee" SUBJECT:pay* filename:a.pdf',
    [
      word('eve', false, 'from'),
      phrase('Ann Lee', true, 'to'),
      prefix('pay', false, 'subject'),
      word('a.pdf', false, 'filename'),
    ],
  ],
  ['a field after a blank', 'from: eve@x.y', [word('eve@x.y', false, 'from')]],
  [
    'attachments',
    'has:attachment -has:attachments',
    [
      { kind: 'attachment', negated: false },
      { kind: 'attachment', negated: true },
    ],
  ],
  ['a time of day', '10:30', [word('10:30')]],
  ['a URL', 'https://x.test/?a:b', [word('https://x.test/?a:b')]],
  ['a mark of a subject', 'Re: AW: Rechnung', [word('Re:'), word('AW:'), word('Rechnung')]],
  [
    'marks and links without a blank',
    'Re:Rechnung FWD:x mailto:eve@x.y tel:+49',
    [word('Re:Rechnung'), word('FWD:x'), word('mailto:eve@x.y'), word('tel:+49')],
  ],
  ['names of code', 'std::vector C:\\x', [word('std::vector'), word('C:\\x')]],
  ['names outside ASCII', '件名:会議', [word('件名:会議')]],
  ['an operator in quotes', '"foo:bar"', [phrase('foo:bar')]],
])('%s are read', (_what, text, terms) => {
  expect(parseSearch(text)).toEqual({ terms, filters: [] })
})

test('what the list filters by is no term', () => {
  expect(parseSearch('in:inbox -is:unread before:2026-01-31 After:"2026/01/01"')).toEqual({
    terms: [],
    filters: [
      { name: 'in', value: 'inbox', negated: false },
      { name: 'is', value: 'unread', negated: true },
      { name: 'before', value: '2026-01-31', negated: false },
      { name: 'after', value: '2026/01/01', negated: false },
    ],
  })
})

test.each([
  ['nothing', '', /no word/],
  ['signs alone', '-* "" !?', /no word/],
  ['letters that are none when folded', '\u0640 \u037A', /no word/],
  ['too many words', 'a '.repeat(21), /at most 20/],
  ['a beginning of one letter', 'pay s*', /two letters/],
  ['too many operators', 'is:read '.repeat(21), /at most 20/],
  ['too long a text', 'a'.repeat(301), /at most 300/],
  ['a NUL', 'a\0b', /NUL/],
  ['an unknown operator', 'x -foo:bar', /"foo:".*"from:".*"foo:bar"/],
  ['an unknown operator with a phrase', 'size:"10 MB"', /"size:".*"size:10 MB"/],
  ['a field without a word', 'from:!!', /after "from:"/],
  ['an operator at the end', 'eve from:', /nothing after "from:"/],
  ['another property', 'has:star', /"has:star".*"has:attachment"/],
])('%s is refused', (_what, text, message) => {
  expect(() => parseSearch(text)).toThrow(/^q: /)
  expect(() => parseSearch(text)).toThrow(message)
})

test('any text is read or refused for what it says', () => {
  const signs = [
    '-',
    '"',
    '*',
    ':',
    "'",
    '\\',
    '<',
    '|',
    '&',
    '!',
    '(',
    ' ',
    'from:',
    'is:',
    'é',
    '会',
  ]
  const part = fc.oneof(fc.constantFrom(...signs), fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      expect(outcomeOf(parts.join(''))).toMatch(/^(?:read|AppError: q: )/)
    }),
  )
})

function outcomeOf(text: string): string {
  try {
    parseSearch(text)
    return 'read'
  } catch (error) {
    return String(error)
  }
}
