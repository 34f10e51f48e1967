import { Buffer } from 'node:buffer'

import { describe, expect, test } from 'vitest'

import { boundedText } from './bounded-text.ts'

const LIMITS = { bytes: 60, lines: 5 }
const lines = (count: number): string => 'text\r\n'.repeat(count)
const cut = (message: string, limits = LIMITS) => {
  const { raw, isCut } = boundedText(Buffer.from(message), limits)
  return { text: raw.toString(), isCut }
}
const part = (header: string, body: string): string => `--b\r\n${header}\r\n\r\n${body}`
const multipart = (...parts: readonly string[]): string =>
  `Content-Type: multipart/mixed;\r\n boundary="b"\r\n\r\n${parts.join('')}--b--\r\n`

describe('a message as it is parsed', () => {
  test.each([
    ['is whole within the limits', `Subject: a\r\n\r\n${lines(5)}`],
    ['is whole where its header alone is long', `X: ${'y\r\n '.repeat(50)}\r\n\r\n${lines(5)}`],
    [
      'is whole where attachments alone are long',
      multipart(part('Content-Type: image/png', lines(50))),
    ],
    [
      'is whole where text that is attached is long',
      multipart(part('Content-Type: text/plain\r\nContent-Disposition: attachment', lines(50))),
    ],
    [
      'is whole where a message inside it is long',
      multipart(part('Content-Type: message/rfc822', `Subject: b\r\n\r\n${lines(50)}`)),
    ],
    ['is whole where it has no header', `\r\n${lines(5)}`],
  ])('%s', (_what, message) => {
    expect(cut(message)).toEqual({ text: message, isCut: false })
  })

  test.each([
    ['lines', lines(6), lines(5)],
    ['bytes', `${'x'.repeat(50)}\r\n${'y'.repeat(20)}\r\n`, `${'x'.repeat(50)}\r\n`],
    ['bytes of one line', 'x'.repeat(61), ''],
  ])('has no text beyond so many %s', (_what, body, kept) => {
    const header = 'Content-Type: text/plain\r\n\r\n'
    expect(cut(header + body)).toEqual({ text: header + kept, isCut: true })
  })

  test('keeps its parts and attachments around text that is left out', () => {
    const html = part('Content-Type: text/html', lines(6))
    const image = part('Content-Type: image/png', lines(50))
    expect(cut(multipart(part('X: y', lines(4)), html, image, part('X: y', lines(2)))).text).toBe(
      multipart(
        part('X: y', lines(4)),
        part('Content-Type: text/html', lines(1)),
        image,
        part('X: y', ''),
      ),
    )
  })

  test('tells boundaries from lines that only begin as they do', () => {
    const text = `${lines(5)}--bb\r\n--b c\r\n--x\r\n`
    expect(cut(multipart(part('X: y', text), part('X: y', ''))).text).toBe(
      multipart(part('X: y', lines(5)), part('X: y', '')),
    )
  })

  test('knows inner boundaries that outer ones begin with', () => {
    const inner = `Content-Type: multipart/alternative; boundary=bb\r\n\r\n--bb\r\n\r\n${lines(9)}--bb--\r\n`
    const kept = inner.replace(lines(9), lines(5))
    expect(cut(multipart(`--b\r\n${inner}`)).text).toBe(multipart(`--b\r\n${kept}`))
  })
})
