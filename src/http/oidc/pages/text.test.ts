import { expect, test } from 'vitest'

import { capitalized, durationOf, withFullStop } from './text.ts'

test.each([
  [0.2, 'a second'],
  [2, '2 seconds'],
  [61, '61 seconds'],
  [120, '2 minutes'],
  [899, '15 minutes'],
])('%d seconds are "%s"', (seconds, words) => {
  expect(durationOf(seconds)).toBe(words)
})

test.each([
  ['must have a digit', 'Must have a digit.'],
  ['Is it?', 'Is it?'],
])('"%s" is the sentence "%s"', (text, sentence) => {
  expect(withFullStop(capitalized(text))).toBe(sentence)
})
