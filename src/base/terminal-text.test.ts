import { describe, expect, test } from 'vitest'

import { terminalBytes, terminalJson, terminalText } from './terminal-text.ts'

const HOSTILE = [
  ['a colour', '\u001B[31mred', '[31mred'],
  ['a title of the window', '\u001B]0;owned\u0007', ']0;owned'],
  ['a sequence of one character', '\u009B2J', '2J'],
  ['backspaces', 'safe\b\b\b\bevil', 'safeevil'],
  ['a line that is written over', 'safe\revil', 'safeevil'],
  ['turned text', 'invoice\u202Etxt.exe', 'invoicetxt.exe'],
  ['a tag outside the first plane', 'a\u{E0041}b', 'ab'],
] as const

describe('what a terminal is shown', () => {
  test.each(HOSTILE)('has no %s', (_what, hostile, shown) => {
    expect(terminalText(hostile)).toBe(shown)
  })

  test.each(HOSTILE)('has no %s in JSON, which means the same', (_what, hostile) => {
    const json = terminalJson({ text: hostile })
    expect(json).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(JSON.parse(json)).toEqual({ text: hostile })
  })

  test('keeps lines, tabs and letters', () => {
    expect(terminalText('a\tb\nGröße 合同 😀')).toBe('a\tb\nGröße 合同 😀')
  })

  test('is the same when it comes byte by byte', async () => {
    const bytes = Buffer.from('Größe \u001B[31m\u009B2J 合同\r\n')
    const chunks = (async function* () {
      for (const byte of bytes) yield Uint8Array.of(byte)
    })()
    let shown = ''
    for await (const chunk of terminalBytes(chunks)) shown += Buffer.from(chunk).toString()
    expect(shown).toBe('Größe [31m2J 合同\n')
  })
})
