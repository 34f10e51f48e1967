import fc from 'fast-check'
import { expect, test } from 'vitest'

import { didYouMean } from './did-you-mean.ts'

test.each([
  ['CROFT_PROT', 'CROFT_PORT'],
  ['croft', undefined],
  ['', undefined],
])('"%s" was probably "%s"', (word, meant) => {
  expect(didYouMean(word, ['CROFT_PORT', 'CROFT_HOSTS'])).toBe(meant)
})

test('a word that differs in one letter is found', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Z_]{4,40}$/), fc.nat(), (word, at) => {
      const place = at % word.length
      expect(didYouMean(`${word.slice(0, place)}0${word.slice(place + 1)}`, [word])).toBe(word)
    }),
  )
})
