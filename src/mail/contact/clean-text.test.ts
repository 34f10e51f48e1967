import { describe, expect, test } from 'vitest'

import { cleanLine, cleanLines } from './clean-text.ts'

describe('a line', () => {
  test.each([
    ['a line break', 'a\r\nBcc: b', 'a Bcc: b'],
    ['a line separator', 'a\u2028b\u2029c\u0085d', 'a b c d'],
    ['NUL and other controls', 'a\0b\u001b[2Jc\u009f', 'ab[2Jc'],
    ['marks that turn text', 'a\u202eb\u2066c\u200fd', 'abcd'],
    ['half of a pair', 'a\ud800b', 'a\ufffdb'],
    ['blanks around it', ' \t a \t b \n', 'a b'],
    ['what joins letters', '👩‍💻 می‌خواهم', '👩‍💻 می‌خواهم'],
  ])('is cleaned of %s', (_what, text, clean) => {
    expect(cleanLine(text)).toBe(clean)
  })
})

test('several lines stay lines', () => {
  expect(cleanLines('\na\r\nb\rc\n\n\td\u0001\u202e\n')).toBe('a\nb\nc\n\n\td')
})
