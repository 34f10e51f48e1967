import { Buffer } from 'node:buffer'

import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'

import { charsetOfHeader } from './field-charset.ts'
import { HeaderFields } from './header-fields.ts'

const read = (block: string | Buffer): HeaderFields =>
  new HeaderFields(typeof block === 'string' ? Buffer.from(block) : block)
const joined = (...pieces: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(pieces.map((piece) => Buffer.from(piece)))

describe('the fields of a header', () => {
  test.each([
    ['CRLF', 'A: 1\r\nB: 2\r\n\r\nC: 3', ['1', '2']],
    ['LF', 'A: 1\nB: 2\n\nC: 3', ['1', '2']],
    ['two CR and LF', 'A: 1\r\r\nB: 2\r\r\n\r\r\nC: 3', ['1', '2']],
    ['CR alone', 'A: 1\rB: 2\r\r\n\r\nC: 3', ['1', '2']],
    ['folds', 'A:\r\n 1\r\nB: 2\r\n \r\n\t3\r\n\r\nC: 3', ['1', '2 3']],
    ['an mbox line', 'From eve Mon Jan  1 10:00:00 2026\r\nA: 1\r\nB: 2\r\n\r\nC: 3', ['1', '2']],
    ['lines that are no field', 'A: 1\r\nnone\r\n folded\r\n: x\r\nB: 2\r\n\r\nC: 3', ['1', '2']],
    ['blanks before the colon', 'A : 1\r\nb\t: 2\r\n\r\nC: 3', ['1', '2']],
    ['an end without an empty line', 'A: 1\r\nB: 2', ['1', '2']],
  ])('are read with %s', (_, block, expected) => {
    const fields = read(block)
    const words = ['a', 'b'].map((name) => fields.text(name).trim().replaceAll(/\s+/g, ' '))
    expect(words).toEqual(expected)
    expect(fields.count('c')).toBe(0)
  })

  test('are decoded each by itself', () => {
    const fields = read(
      joined(
        'X-Note: caf',
        Buffer.of(0xe9),
        '\r\nFrom: Jürgen <j@x.test>\r\nSubject: 日本\r\n\r\n',
      ),
    )
    expect(fields.text('x-note')).toBe(' café')
    expect(fields.text('from')).toBe(' Jürgen <j@x.test>')
    expect(fields.text('subject')).toBe(' 日本')
  })

  test('of raw bytes are of the charset of the body, or of what their statistics say', () => {
    const subject = iconv.encode('Привет', 'koi8-r')
    const type = 'Content-Type: text/plain; charset=koi8-r\r\nSubject: '
    const block = joined(type, subject, '\r\n\r\n')
    const charset = charsetOfHeader(block, block.length)
    expect(read(block).text('subject', { charset })).toBe(' Привет')
    const guessed = read(joined('Subject: ', subject, '\r\n\r\n'))
    expect(guessed.text('subject', { guesses: true })).toBe(' Привет')
  })

  test('say where the body starts, also where no empty line does', () => {
    const start = (block: string) => {
      const { bodyStart, unreadable } = read(block)
      return block.slice(unreadable ?? bodyStart)
    }
    expect(start('A: 1\r\n\r\nbody')).toBe('body')
    expect(start('A: 1\r\nno field\r\n\r\nbody')).toBe('no field\r\n\r\nbody')
    expect(start('no field\r\nat all')).toBe('no field\r\nat all')
    expect(start('\r\nbody')).toBe('body')
    expect(start('A: 1')).toBe('')
  })

  test('are read in time, however many they are, and of one name a hundred', () => {
    const fields = read('X: y\r\n'.repeat(500_000))
    expect(fields.count('x')).toBe(500_000)
    expect(fields.texts('x')).toHaveLength(100)
    const folded = read(`X: y${'\r\n z'.repeat(500_000)}\r\n${'\r'.repeat(500_000)}\r\n\r\n`)
    expect(folded.text('x', { maxBytes: 10 })).toBe(' y z z')
  })
})
