import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { linkedParts } from './linked-text.ts'

const links = (text: string) => linkedParts(text).flatMap(({ href }) => href ?? [])

describe('the text of a message', () => {
  test.each([
    ['See https://a.test/x?y=1#z.', ['https://a.test/x?y=1#z']],
    ['(see http://a.test/p)', ['http://a.test/p']],
    ['http://a.test/p_(q) is it', ['http://a.test/p_(q)']],
    ['<https://a.test/>', ['https://a.test/']],
    ['Write to ann@shop.test, please', ['mailto:ann@shop.test']],
    ['mailto:ann@shop.test?subject=x', ['mailto:ann@shop.test?subject=x']],
    ['javascript:alert(1)', []],
    ['data:text/html,<script>alert(1)</script>', []],
    ['file:///etc/passwd and ftp://a.test', []],
    ['http://', []],
    ['ann@shop', []],
  ])('%s links to %j', (text, expected) => {
    expect(links(text)).toEqual(expected)
  })

  test('is all there, and links only to the web and to addresses', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.webUrl(), fc.emailAddress(), fc.constant('javascript:'))),
        (pieces) => {
          const text = pieces.join(' ')
          const parts = linkedParts(text)
          expect(parts.map((part) => part.text).join('')).toBe(text)
          for (const { href } of parts) {
            expect(href === undefined || /^(?:https?|mailto):/i.test(href)).toBe(true)
          }
        },
      ),
    )
  })

  test.each(['a', '.', '@', 'a@', 'mailto:', 'http://', ')', 'http://a)'])(
    'is read in a moment where it repeats %s',
    { timeout: 2000 },
    (piece) => {
      const text = piece.repeat(200_000)
      const parts = linkedParts(text)
      expect(parts.reduce((length, part) => length + part.text.length, 0)).toBe(text.length)
    },
  )
})
