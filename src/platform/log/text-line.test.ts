import { describe, expect, test } from 'vitest'

import { createLogger } from './create-logger.ts'
import { textLine } from './text-line.ts'

const lines: string[] = []
const log = createLogger({ logLevel: 'trace' }, { write: (line) => lines.push(line) })

function written(write: () => void, colors = false): string {
  write()
  return textLine(lines.pop() ?? '', { colors })
}

const ESCAPES = 'a\u001B[2Jb\u009B31mc\u202Ed\u0007'

describe('a line of the log as text', () => {
  test('is the time, the level, the message and every field', () => {
    const line = written(() =>
      log.info({ siteId: 'site_1', ms: 12.5, ok: true, none: null, path: '/a b' }, 'request'),
    )
    expect(line).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} INFO {2}request siteId=site_1 ms=12\.5 ok=true none=null path="\/a b"\n$/,
    )
  })

  test('has objects and lists as JSON', () => {
    const line = written(() => log.warn({ list: [1, { a: 'b' }], empty: '' }))
    expect(line).toMatch(/ WARN {2}list=\[1,\{"a":"b"\}\] empty=""\n$/)
  })

  test('quotes what would look like a field of its own', () => {
    const line = written(() => log.info({ host: 'a level=fatal', other: 'a=b', say: '"x"' }, 'x'))
    expect(line).toContain(String.raw`host="a level=fatal" other="a=b" say="\"x\""`)
  })

  test('has the stack of an error, and of its causes, below it', () => {
    const error = new Error('outer', { cause: new TypeError('inner') })
    const line = written(() => log.error({ err: Object.assign(error, { code: 'E1' }) }, 'failed'))
    const [first, ...below] = line.trimEnd().split('\n')
    expect(first).toMatch(/ ERROR failed err\.code=E1$/)
    expect(below[0]).toBe('    Error: outer')
    expect(below.every((text) => text.startsWith('    '))).toBe(true)
    expect(below.join('\n')).toContain('TypeError: inner')
  })

  test('tells an error that is none as it is', () => {
    expect(written(() => log.error({ err: 'torn' }, 'failed'))).toMatch(/ failed err=torn\n$/)
  })

  test.each<[string, () => void]>([
    ['its message', () => log.info(ESCAPES)],
    ['a field', () => log.info({ path: ESCAPES }, 'request')],
    ['a nested field', () => log.info({ headers: [{ host: ESCAPES }] }, 'request')],
    ['the name of a field', () => log.info({ of: { [ESCAPES]: 1 } }, 'request')],
    ['the name of a field at the top', () => log.info({ [ESCAPES]: 1 }, 'request')],
    ['an error', () => log.error({ err: new Error(ESCAPES) }, 'failed')],
  ])('gives a terminal nothing to act on in %s', (_where, write) => {
    expect(written(write)).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
  })

  test.each<[string, () => void]>([
    ['its message', () => log.info('a\n12:00:00.000 FATAL gone')],
    ['a field', () => log.info({ path: '/\r\n12:00:00.000 FATAL gone' }, 'request')],
    ['an error', () => log.error({ err: new Error('a\n12:00:00.000 FATAL gone') }, 'failed')],
  ])('is not forged by a line break in %s', (_where, write) => {
    expect(written(write)).not.toMatch(/^12:00:00\.000 FATAL/m)
  })

  test('has colours only where asked for', () => {
    const write = () => log.warn({ siteId: 's' }, 'slow')
    expect(written(write)).not.toContain('\u001B')
    const line = written(write, true)
    expect(line).toContain('\u001B[33mWARN \u001B[0m')
    expect(line).toContain('\u001B[2msiteId=\u001B[0ms')
  })
})
