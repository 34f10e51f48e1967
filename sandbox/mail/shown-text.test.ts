import { Buffer } from 'node:buffer'

import { describe, expect, test } from 'vitest'

import { readEntities } from './mime/entities.ts'
import { ShownText } from './shown-text.ts'

const LIMITS = { bytes: 60, lines: 5 }
const lines = (count: number): string => 'text\r\n'.repeat(count)

/** The texts of a message's parts, or of itself. */
function textsOf(message: string, limits = LIMITS) {
  const bytes = Buffer.from(message)
  const { root } = readEntities(bytes)
  const shown = new ShownText(bytes, limits)
  const parts = root.children.length > 0 ? root.children : [root]
  return { texts: parts.map((part) => shown.of(part)), cut: shown.cut.length }
}

describe('the text that is shown', () => {
  test('is whole within its bounds', () => {
    expect(textsOf(`Subject: a\r\n\r\n${lines(5)}`)).toEqual({
      texts: ['text\n'.repeat(5)],
      cut: 0,
    })
  })

  test.each([
    ['lines', lines(6), 'text\n'.repeat(5)],
    ['bytes', `${'x'.repeat(50)}\r\n${'y'.repeat(20)}\r\n`, `${'x'.repeat(50)}\n`],
    ['bytes of one line', 'x'.repeat(63), `${'x'.repeat(60)}\n`],
  ])('has whole lines, or the start of one, up to so many %s', (_, body, text) => {
    expect(textsOf(`\r\n${body}`)).toEqual({ texts: [text], cut: 1 })
  })

  test.each([
    ['a\rb\r\nc\r\r\nd', 'a\nb\nc\nd\n'],
    ['\r'.repeat(1024 * 1024), '\n'.repeat(1024 * 1024)],
  ])('has lines that end in LF, however they ended', (body, text) => {
    const limits = { bytes: 2 * 1024 * 1024, lines: 100 }
    expect(textsOf(`\r\n${body}`, limits).texts).toEqual([text])
  })

  test('of all parts is bounded together', () => {
    const parts = [lines(3), lines(4), 'short'].map((text) => `--b\r\n\r\n${text}\r\n`)
    const message = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts.join('')}--b--`
    expect(textsOf(message)).toEqual({
      texts: ['text\n'.repeat(3), 'text\n'.repeat(2), ''],
      cut: 2,
    })
  })

  test.each([
    ['one \r\ntwo\r\n\r\nthree', '', 'one two\n\nthree\n'],
    ['one \r\ntwo', '; delsp=yes', 'onetwo\n'],
    ['> one \r\n> two\r\n>> deeper \r\n> three', '', '> one two\n>> deeper \n> three\n'],
    [' From me \r\n >no quote', '', 'From me >no quote\n'],
    ['words \r\n-- \r\nAnn', '', 'words \n-- \nAnn\n'],
  ])('is put together where it is flowed: %j%s', (body, parameter, text) => {
    const type = `Content-Type: text/plain; format=Flowed${parameter}`
    expect(textsOf(`${type}\r\n\r\n${body}`, { bytes: 1000, lines: 100 }).texts).toEqual([text])
  })
})
