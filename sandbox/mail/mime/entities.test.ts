import { Buffer } from 'node:buffer'

import { describe, expect, test } from 'vitest'

import { type Entity, readEntities } from './entities.ts'

const CRLF = (...lines: readonly string[]): string => lines.join('\r\n')

/** The bodies of a message as a tree: those of a multipart in brackets, by its type. */
function treeOf(message: string): unknown {
  const bytes = Buffer.from(message, 'latin1')
  const shown = ({ type, body, children }: Entity): unknown =>
    children.length > 0
      ? { [type.replace('multipart/', '')]: children.map(shown) }
      : bytes.toString('latin1', body.start, body.end)
  return shown(readEntities(bytes).root)
}

const multipart = (subtype: string, boundary: string, ...parts: readonly string[]): string =>
  CRLF(
    `Content-Type: multipart/${subtype}; boundary="${boundary}"`,
    '',
    ...parts.flatMap((part) => [`--${boundary}`, part]),
    `--${boundary}--`,
    '',
  )

describe('the parts of a message', () => {
  test('are the bytes between its delimiters', () => {
    const first = CRLF('X: y', '', 'one', '')
    expect(treeOf(multipart('mixed', 'b', first, CRLF('', 'two'), CRLF('X: y', '', '')))).toEqual({
      mixed: ['one\r\n', 'two', ''],
    })
  })

  test('are nested', () => {
    const inner = multipart('alternative', 'bb', CRLF('', 'a'), CRLF('', 'b'))
    expect(treeOf(multipart('mixed', 'b', inner, CRLF('', 'c')))).toEqual({
      mixed: [{ alternative: ['a', 'b'] }, 'c'],
    })
  })

  test.each([
    ['inner and outer boundaries have the same prefix', 'b', 'bb'],
    ['outer and inner boundaries have the same prefix', 'bb', 'b'],
    ['the inner boundary ends in dashes', 'b', 'b--'],
    ['boundaries have letters of patterns', "b'()+_,-./:=?", 'x.*'],
  ])('are distinguished where %s', (_, outer, inside) => {
    const inner = multipart('alternative', inside, CRLF('', 'a'), CRLF('', 'b'))
    expect(treeOf(multipart('mixed', outer, inner, CRLF('', 'c')))).toEqual({
      mixed: [{ alternative: ['a', 'b'] }, 'c'],
    })
  })

  test.each([
    [
      'an end that is missing',
      CRLF('Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'a'),
    ],
    [
      'a preamble and an epilogue',
      `${CRLF('Content-Type: multipart/mixed; boundary=b', '', 'for old readers', '--b', '', 'a', '--b--', 'more')}`,
    ],
    [
      'blanks behind a delimiter',
      CRLF('Content-Type: multipart/mixed; boundary=b', '', '--b \t', '', 'a', '--b--  ', ''),
    ],
    [
      'LF alone',
      CRLF('Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'a', '--b--', '').replaceAll(
        '\r',
        '',
      ),
    ],
    [
      'a boundary that no Content-Type declares',
      CRLF(
        'Content-Type: multipart/mixed',
        '',
        '--b',
        'Content-Type: text/plain',
        '',
        'a',
        '--b--',
        '',
      ),
    ],
    [
      'another boundary than was declared',
      CRLF('Content-Type: multipart/mixed; boundary=c', '', '--b', '', 'a', '--b--', ''),
    ],
    [
      'a boundary with a comment',
      CRLF('Content-Type: multipart/mixed; boundary=b (x)', '', '--b', '', 'a', '--b--', ''),
    ],
    [
      'a boundary with blanks and a comment in quotes',
      CRLF('Content-Type: multipart/mixed; boundary="b  (x)"', '', '--b', '', 'a', '--b--', ''),
    ],
    [
      'a boundary that is not ASCII',
      CRLF(
        'Content-Type: multipart/mixed; boundary="b\xe9"',
        '',
        '--b\xe9',
        '',
        'a',
        '--b\xe9--',
        '',
      ),
    ],
    [
      'a boundary that is folded',
      CRLF('Content-Type: multipart/mixed;', ' boundary=b', '', '--b', '', 'a', '--b--', ''),
    ],
    [
      'no empty line in a part',
      CRLF('Content-Type: multipart/mixed; boundary=b', '', '--b', 'a', '--b--', ''),
    ],
    [
      'no empty line behind the header',
      CRLF('Content-Type: multipart/mixed; boundary=b', '--b', '', 'a', '--b--', ''),
    ],
  ])('are found with %s', (_, message) => {
    expect(treeOf(message)).toEqual({ mixed: ['a'] })
  })

  test.each([
    [
      'an inner end that is missing',
      CRLF(
        '--b',
        'Content-Type: multipart/alternative; boundary=i',
        '',
        '--i',
        '',
        'a',
        '--b',
        '',
        'c',
        '--b--',
      ),
    ],
    [
      'a delimiter of the outer one in the header of a part',
      CRLF(
        '--b',
        'Content-Type: multipart/alternative; boundary=i',
        '',
        '--i',
        '',
        'a',
        '--i',
        'X: y',
        '--b',
        '',
        'c',
        '--b--',
      ),
    ],
  ])('of the outer multipart end the inner one: %s', (_, body) => {
    const tree = treeOf(CRLF('Content-Type: multipart/mixed; boundary=b', '', body))
    expect(tree).toEqual({ mixed: [{ alternative: expect.arrayContaining(['a']) }, 'c'] })
  })

  test.each([
    ['no boundary', 'multipart/mixed', 'words'],
    ['a boundary that never comes', 'multipart/mixed; boundary=never', '--other\r\nwords'],
    ['an empty boundary', 'multipart/mixed; boundary=""', '--\r\nwords\r\n--'],
    ['a signature', 'multipart/mixed', 'words\r\n-- \r\nAnn\r\n-- \r\nLee'],
  ])('are none with %s', (_, type, body) => {
    expect(treeOf(CRLF(`Content-Type: ${type}`, '', body))).toBe(body)
  })

  test.each([
    ['of both', 'before\r\n\r\n--b\r\n\r\na\r\n--b--\r\nbehind\r\n', ['before\r\n', 'behind\r\n']],
    ['that are empty', '--b\r\n\r\na\r\n--b--', ['', '']],
    ['that is not closed', 'before\r\n--b\r\n\r\na', ['before', undefined]],
    ['without parts', 'body\r\n--b--\r\nbehind', [undefined, 'behind']],
    ['without delimiters', 'body', [undefined, undefined]],
  ])('have a preamble and an epilogue around them: those %s', (_, body, expected) => {
    const bytes = Buffer.from(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${body}`)
    const { preamble, epilogue } = readEntities(bytes).root
    const text = (range = { start: 0, end: 0 }) => bytes.toString('latin1', range.start, range.end)
    expect([preamble && text(preamble), epilogue && text(epilogue)]).toEqual(expected)
  })

  test('have a preamble and an epilogue where they are nested, each its own', () => {
    const inner = multipart('alternative', 'i', CRLF('', 'a')).replace('--i', 'in\r\n--i')
    const outer = multipart('mixed', 'b', CRLF(`${inner}end`), CRLF('', 'c'))
    const bytes = Buffer.from(outer)
    const [child] = readEntities(bytes).root.children
    expect(bytes.toString('latin1', child?.preamble?.start, child?.preamble?.end)).toBe('in')
    expect(bytes.toString('latin1', child?.epilogue?.start, child?.epilogue?.end)).toBe('end')
  })

  test('of a digest are messages', () => {
    const digest = multipart('digest', 'b', CRLF('', 'Subject: a', '', 'x'))
    const [child] = readEntities(Buffer.from(digest)).root.children
    expect(child?.type).toBe('message/rfc822')
  })

  test.each([
    ['Text/HTML; charset=x', 'text/html'],
    ['html', 'text/html'],
    ['text', 'text/plain'],
    ['plain', 'text/plain'],
    ['unknown', 'text/plain'],
    ['text/', 'text/plain'],
    ['text/plain/x', 'text/plain'],
    ['', 'text/plain'],
    [';;;', 'text/plain'],
    ['application/x-y; z', 'application/x-y'],
  ])('have a type, whatever they say: %s', (field, type) => {
    expect(readEntities(Buffer.from(`Content-Type: ${field}\r\n\r\nx`)).root.type).toBe(type)
  })

  test('are refused deeper than 50, and with a header of more than 1 MiB', () => {
    const nested = (depth: number) =>
      Array.from({ length: depth }, (_, at) =>
        CRLF(`Content-Type: multipart/mixed; boundary=d${at}`, '', `--d${at}`, ''),
      ).join('')
    expect(() => readEntities(Buffer.from(nested(50)))).not.toThrow()
    expect(() => readEntities(Buffer.from(nested(51)))).toThrow('nested more than 50 deep')
    const long = `X: ${'y'.repeat(1024 * 1024)}\r\n\r\n`
    expect(() => readEntities(Buffer.from(long))).toThrow('longer than 1048576 bytes')
    // What has no field is no header.
    expect(treeOf('x'.repeat(2 * 1024 * 1024))).toHaveLength(2 * 1024 * 1024)
  })

  test('are read up to ten thousand of them', () => {
    const parts = '--b\r\n\r\nx\r\n'.repeat(100_000)
    const many = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--`
    const { root, isCut } = readEntities(Buffer.from(many))
    expect(root.children.length).toBeLessThan(10_000)
    expect(isCut).toBe(true)
  })

  test.each([
    ['delimiters', 'boundary=b', '--b\r\n'],
    ['lines that begin as delimiters', 'boundary=b', '--bb\r\n'],
    ['dashes', 'boundary=b', '\n--'],
    [
      'multiparts without a boundary',
      'boundary=b',
      '--b\r\nContent-Type: multipart/mixed\r\n\r\n--c\r\n\r\n',
    ],
    [
      'multiparts of one boundary',
      'boundary=b',
      '--b\r\nContent-Type: multipart/mixed; boundary=z\r\n\r\n',
    ],
    ['empty lines', '', '\r\n'],
    ['zeros', '', '\0'],
  ])('are found in time, however many %s there are', (_, parameter, piece) => {
    const body = piece.repeat(Math.ceil((8 * 1024 * 1024) / piece.length))
    const message = Buffer.from(`Content-Type: multipart/mixed; ${parameter}\r\n\r\n${body}\r\n--z`)
    const started = performance.now()
    readEntities(message)
    expect(performance.now() - started).toBeLessThan(8000)
  })

  test.each([
    ['blanks are in their boundaries', `boundary="b${' '.repeat(60_000)}x"`, ''],
    ['quotes are opened in their parameters', `${'*=";'.repeat(15_000)}`, ''],
    ['lines of CR are in their headers', 'boundary=b', '--\r'.repeat(20_000)],
    ['lines of CR come before blanks', 'boundary=b', '--\r'.repeat(20_000) + ' '.repeat(60_000)],
  ])('are found in time, however many %s', (_, parameter, more) => {
    const part = `Content-Type: multipart/mixed; ${parameter}\r\nX: y\r${more}\r\n\r\n--b\r\n`
    const message = Buffer.from(`${part.repeat(40)}\r\nx`)
    const started = performance.now()
    readEntities(message)
    expect(performance.now() - started).toBeLessThan(8000)
  })
})
