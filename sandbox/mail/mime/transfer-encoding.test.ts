import { Buffer } from 'node:buffer'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { decodeTransfer } from './transfer-encoding.ts'

const decoded = (text: string, encoding: string): string =>
  decodeTransfer(Buffer.from(text, 'latin1'), encoding).toString('latin1')

describe('a transfer encoding', () => {
  test.each([
    ['base64', 'd29yZHM=', 'words'],
    ['BASE64', 'd29y\r\nZHM', 'words'],
    [' base64 ', 'd29y!!Z*HM=', 'words'],
    ['base64', 'd29yZA==\r\nd29yZA==', 'wordword'],
    ['base64', 'd29yZHM=\r\n--\r\n', 'words'],
    ['base64', 'd29y ZHMK', 'words\n'],
    ['base64', 'd', ''],
    ['base64', '====', ''],
    ['quoted-printable', 'a=3Db=\r\nc =\t\r\nd', 'a=bc d'],
    ['Quoted_Printable', 'a=3d=C3=bc', 'a=\xc3\xbc'],
    ['quoted-printable', 'a=ZZb=4', 'a=ZZb=4'],
    ['quoted-printable', 'a=\nb=', 'ab'],
    ['quoted-printable', 'a \r\nb\r\n', 'a \r\nb\r\n'],
    ['x-uuencode', 'begin 644 a.txt\n#86)C\n`\nend\n', 'abc'],
    ['uuencode', 'words\nbegin 644 a\r\n#86)C\r\n#86)C\r\n`\r\nend', 'abcabc'],
    ['7bit', 'a,b\r\n1,2', 'a,b\r\n1,2'],
    ['8bit', '\xe9\r\n\0\n', '\xe9\r\n\0\n'],
    ['binary', '\r\r\n=41', '\r\r\n=41'],
    ['', 'YQ==', 'YQ=='],
    ['x-none', 'YQ==', 'YQ=='],
  ])('%s of %j is %j', (encoding, text, expected) => {
    expect(decoded(text, encoding)).toBe(expected)
  })

  test('gives the bytes that were sent', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (sent) => {
        const bytes = Buffer.from(sent)
        const base64 = bytes.toString('base64').replaceAll(/.{1,7}/g, '$&\r\n')
        const quoted = Array.from(bytes, (byte) => `=${byte.toString(16).padStart(2, '0')}`)
        expect(decodeTransfer(Buffer.from(base64), 'base64')).toEqual(bytes)
        const lines = quoted.join('').replaceAll(/.{30}/g, '$&=\r\n')
        expect(decodeTransfer(Buffer.from(lines), 'quoted-printable')).toEqual(bytes)
        expect(decodeTransfer(bytes, '8bit')).toEqual(bytes)
      }),
    )
  })
})
