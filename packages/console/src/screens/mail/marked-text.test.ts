import { expect, test } from 'vitest'

import { markedParts } from './marked-text.ts'

const written = (text: string, ranges?: readonly { start: number; end: number }[]): string =>
  markedParts(text, ranges)
    .map((part) => (part.isMarked ? `[${part.text}]` : part.text))
    .join('')

test.each([
  ['nothing', undefined, 'invoice for May'],
  ['a word', [{ start: 0, end: 7 }], '[invoice] for May'],
  ['the end', [{ start: 12, end: 15 }], 'invoice for [May]'],
  [
    'ranges in any order',
    [
      { start: 12, end: 15 },
      { start: 0, end: 2 },
    ],
    '[in]voice for [May]',
  ],
  [
    'ranges that overlap',
    [
      { start: 0, end: 4 },
      { start: 2, end: 7 },
    ],
    '[invo][ice] for May',
  ],
  ['a range beyond the text', [{ start: 12, end: 99 }], 'invoice for [May]'],
  ['a range outside the text', [{ start: 40, end: 99 }], 'invoice for May'],
])('marks %s', (_what, ranges, expected) => {
  expect(written('invoice for May', ranges)).toBe(expected)
})

test('has no parts for an empty text', () => {
  expect(markedParts('', [])).toEqual([])
})
