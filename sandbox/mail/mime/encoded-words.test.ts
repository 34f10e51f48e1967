import { Buffer } from 'node:buffer'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { decodeEncodedWords } from './encoded-words.ts'

describe('encoded words', () => {
  test.each([
    ['=?utf-8?Q?Gr=C3=BC=C3=9Fe?=', 'Grüße'],
    ['=?UTF-8?b?R3LDvMOfZQ==?=', 'Grüße'],
    ['=?iso-8859-1*de?Q?Gr=FC=DFe?=', 'Grüße'],
    ['a =?utf-8?Q?b?= c', 'a b c'],
    ['=?utf-8?Q?a?= =?utf-8?Q?b?=', 'ab'],
    ['=?utf-8?Q?a?=\t =?iso-8859-1?B?Yg==?=', 'ab'],
    ['=?utf-8?Q?a?==?utf-8?Q?b?=', 'ab'],
    ['x=?utf-8?Q?a?=y', 'xay'],
    ['"=?utf-8?Q?a?="', '"a"'],
    ['=?utf-8?Q?a_b=20c?=', 'a b c'],
    ['=?utf-8?Q?a b?=', 'a b'],
    ['=?utf-8?Q?why??=', 'why?'],
    ['=?utf-8?Q?Gr=C3?= =?utf-8?Q?=BC?=', 'Grü'],
    ['=?utf-8?Q?Gr=C3?= =?UTF-8?B?vA==?=', 'Grü'],
    ['=?utf-8?B?R3LD?= =?utf-8?B?vMOfZQ==?=', 'Grüße'],
    ['=?utf-8?B?R3LDv?= =?utf-8?B?MOfZQ==?=', 'Grüße'],
    ['=?iso-2022-jp?B?GyRCRnwbKEI=?= =?iso-2022-jp?B?GyRCS1wbKEI=?=', '日本'],
    ['=?gb2312?B?1tC5+g==?=', '中国'],
    ['=?iso-8859-1?Q?Gr=C3=BC=C3=9Fe?=', 'Grüße'],
    ['=?x-none?Q?Gr=C3=BC=C3=9Fe?=', 'Grüße'],
    ['=?utf-8?Q?日本?=', '日本'],
    ['=?utf-8?Q??=', ''],
    ['=?utf-8?B??= x', ' x'],
    ['=?utf-8?B?!!R3I?=', 'Gr'],
    ['=?utf-8?X?a?=', '=?utf-8?X?a?='],
    ['=?utf-8?Q?a', '=?utf-8?Q?a'],
    ['=??Q?a?=', '=??Q?a?='],
    ['=?ut f?Q?a?=', '=?ut f?Q?a?='],
    ['=?utf-8?Q?a =?utf-8?Q?b?=', '=?utf-8?Q?a b'],
    ['=?utf-8?', '=?utf-8?'],
    ['=?', '=?'],
    ['', ''],
  ])('are decoded in %s', (text, expected) => {
    expect(decodeEncodedWords(text)).toBe(expected)
  })

  test('are what was encoded, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.nat(), (text, at) => {
        const bytes = Buffer.from(text)
        const cut = at % bytes.length
        const words = [bytes.subarray(0, cut), bytes.subarray(cut)].map(
          (part) => `=?utf-8?B?${part.toString('base64')}?=`,
        )
        // A mark at the beginning is none of the text.
        expect(decodeEncodedWords(words.join('\r\n '))).toBe(text.replace(/^\uFEFF/, ''))
      }),
    )
  })

  test.each(['=?', '=?a?Q?', '=?a?Q?x', '=?a?Q?=?', '?=', '=?a?Q?b?= '])(
    'take time that grows with the length: %s',
    (piece) => {
      expect(decodeEncodedWords(piece.repeat(200_000)).length).toBeGreaterThan(0)
    },
  )
})
