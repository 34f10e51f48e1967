import { describe, expect, test } from 'vitest'

import { LineEndings } from './line-endings.ts'

/** Each as a whole, and cut at every place. */
function check(text: string): void {
  const bytes = Buffer.from(text)
  for (let cut = 0; cut <= bytes.length; cut++) {
    const lineEndings = new LineEndings()
    lineEndings.check(bytes.subarray(0, cut))
    lineEndings.check(bytes.subarray(cut))
  }
}

describe('line endings', () => {
  test.each(['a\r\nb\r\n', '\r\n\r\n', 'a', ''])('%j are those of RFC 5321', (text) => {
    expect(() => check(text)).not.toThrow()
  })

  test.each([
    'a\n.\nb',
    'a\n.\r\nb',
    'a\r.\rb',
    'a\r\n.\nb',
    'a\r.\r\nb',
    'a\r\n.\rb',
    'a\n.\rb',
    'a\n\r\n',
    'a\r\r\n',
    '\r\n\n',
  ])('%j are not', (text) => {
    for (let cut = 0; cut <= text.length; cut++) {
      const lineEndings = new LineEndings()
      const both = (): void => {
        lineEndings.check(Buffer.from(text.slice(0, cut)))
        lineEndings.check(Buffer.from(text.slice(cut)))
      }
      expect(both, `cut at ${cut}`).toThrow('5.6.0')
    }
  })
})
