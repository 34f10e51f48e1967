import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { decodeFileName, parseParameters } from './parameters.ts'

const read = (field: string) => {
  const { value, parameters } = parseParameters(field)
  return { value, ...Object.fromEntries(parameters) }
}

describe('a value with parameters', () => {
  test.each([
    ['text/plain', { value: 'text/plain' }],
    [' Text/HTML ; Charset="UTF-8"', { value: 'text/html', charset: 'UTF-8' }],
    ['text/plain; charset=us-ascii (plain)', { value: 'text/plain', charset: 'us-ascii (plain)' }],
    ['(a comment) text/plain', { value: 'text/plain' }],
    ['text/plain charset=utf-8', { value: 'text/plain', charset: 'utf-8' }],
    ['text/plain;; charset = utf-8 ;', { value: 'text/plain', charset: 'utf-8' }],
    ['"text/plain"; charset=a', { value: 'text/plain', charset: 'a' }],
    ['a/b; c=1; c=2; flag; d', { value: 'a/b', c: '1' }],
    ['a/b; boundary="x y; z"; c=d', { value: 'a/b', boundary: 'x y; z', c: 'd' }],
    ['a/b; boundary="open; c=d', { value: 'a/b', boundary: 'open', c: 'd' }],
    ['a/b; boundary=----=_Part_1', { value: 'a/b', boundary: '----=_Part_1' }],
    [String.raw`a/b; name="a\"b\\c:\d"`, { value: 'a/b', name: String.raw`a"b\c:\d` }],
    ['a/b; name=my file.pdf; c=d', { value: 'a/b', name: 'my file.pdf', c: 'd' }],
    ['a/b; name=""', { value: 'a/b', name: '' }],
    ['filename="a b.pdf"; size=3', { value: '', filename: 'a b.pdf', size: '3' }],
    [';;;', { value: '' }],
    ['', { value: '' }],
    ['a/b; constructor=x', { value: 'a/b', constructor: 'x' }],
  ])('is read from %s', (field, expected) => {
    expect(read(field)).toEqual(expected)
  })

  test.each([
    ["n*=utf-8''Gr%C3%BC%C3%9Fe.pdf", 'Grüße.pdf'],
    ["n*=iso-8859-1'de'Gr%FC%DFe.pdf", 'Grüße.pdf'],
    ['n*="utf-8\'\'Gr%C3%BC.pdf"', 'Grü.pdf'],
    ['n*=Gr%C3%BC.pdf', 'Grü.pdf'],
    ["n*=koi8-r''%F0%D2%C9%D7%C5%D4", 'Привет'],
    ["n*=iso-8859-1''Gr%C3%BC.pdf", 'Grü.pdf'],
    ["n*0*=utf-8''Gr%C3; n*1*=%BC%C3%9Fe; n*2=.pdf", 'Grüße.pdf'],
    ["n*2=.pdf; n*0*=utf-8''Gr%C3; n*1*=%BC%C3%9Fe", 'Grüße.pdf'],
    ['n*0="a "; n*1="b.pdf"', 'a b.pdf'],
    ['n*1=b; n*2=c', 'bc'],
    ['n*0="=?utf-8?Q?Gr=C3"; n*1="=BC?="', 'Grü'],
    ["n=old.pdf; n*=utf-8''new.pdf", 'new.pdf'],
    ["n*=utf-8''new.pdf; n=old.pdf", 'new.pdf'],
    ['n=old.pdf; n*0=a; n*1=b', 'ab'],
    ['n="=?utf-8?B?R3LDvMOfZQ==?=.pdf"', 'Grüße.pdf'],
    ['n==?utf-8?Q?Gr=C3=BC?=', 'Grü'],
    ['n=100%.pdf', '100%.pdf'],
    ["n*=utf-8''100%.pdf", '100%.pdf'],
    ['n=Grüße.pdf', 'Grüße.pdf'],
  ])('names a file in %s', (parameter, expected) => {
    const { parameters } = parseParameters(`attachment; ${parameter}`)
    expect(decodeFileName(parameters.get('n'))).toBe(expected)
  })

  test('is read whatever it is made of', () => {
    const piece = fc.constantFrom(
      ...Array.from('";=*\'\\%() '),
      'n',
      'a/b',
      'n*0*=',
      "utf-8''",
      '%C3',
      '\0',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(parseParameters(pieces.join('')).parameters).toBeInstanceOf(Map)
      }),
      { numRuns: 1000 },
    )
  })

  test.each(['n="', 'n="a', 'n=a;', '; ', ' ', '(', 'n*1=a;', 'n\\', '*=";'])(
    'takes time that grows with the length: %s',
    (piece) => {
      expect(parseParameters(`a/b;${piece.repeat(20_000)}`).value).toBe('a/b')
    },
  )
})
