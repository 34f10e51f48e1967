import { describe, expect, test } from 'vitest'

import { codeFrame } from './code-frame.ts'

const TEXT = ['one', 'two', 'const three = = 3', 'four', 'five'].join('\n')

describe('a code frame', () => {
  test('shows the lines around a place and points to it', () => {
    expect(codeFrame(TEXT, { line: 3, column: 15 })).toBe(
      [
        '  1 | one',
        '  2 | two',
        '> 3 | const three = = 3',
        '    |               ^',
        '  4 | four',
      ].join('\n'),
    )
  })

  test('is as long as there are lines', () => {
    expect(codeFrame('only', { line: 1, column: 1 })).toBe(['> 1 | only', '    | ^'].join('\n'))
  })

  test('has no more of a long line than fits', () => {
    const frame = codeFrame(`${'a'.repeat(5000)}!${'b'.repeat(5000)}`, { line: 1, column: 5001 })
    const [source = '', caret = ''] = frame?.split('\n') ?? []
    expect(source.length).toBeLessThan(120)
    expect(source.charAt(caret.indexOf('^'))).toBe('!')
  })

  test('moves no cursor', () => {
    expect(codeFrame('a\tb\u001B[2J', { line: 1, column: 3 })).toBe(
      ['> 1 | a b [2J', '    |   ^'].join('\n'),
    )
  })

  test('is not there for a line that is not there', () => {
    expect(codeFrame(TEXT, { line: 9, column: 1 })).toBeUndefined()
  })
})
