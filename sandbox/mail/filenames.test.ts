import { Buffer } from 'node:buffer'

import { describe, expect, test } from 'vitest'

import { safeFilename } from './filenames.ts'

const nameOf = (name: string): string => safeFilename(name, 'application/pdf', 1)

describe('the name of a file', () => {
  test.each([
    ['blanks and dots around it', ' ..a b.pdf. . ', 'a b.pdf'],
    ['many dots behind it', `x.exe${'.'.repeat(60_000)}`, 'x.exe'],
    ['nothing else', '. .', 'part-1.pdf'],
  ])('has lost %s', (_, name, expected) => {
    expect(nameOf(name)).toBe(expected)
  })

  test('ends in no dot where it is cut', () => {
    const cut = nameOf(`a${'.'.repeat(60_000)}${'b'.repeat(40)}`)
    expect(cut).toBe('a')
    expect(nameOf(`${'a'.repeat(253)}. ${'b'.repeat(40)}`)).toBe('a'.repeat(253))
  })

  test('has no more than thirty marks in a row', () => {
    const marks = `${'\u0345'.repeat(20_000)}${'\u0316'.repeat(20_000)}`
    expect(nameOf(`x${marks}y.pdf`)).toBe(`x${'\u0345'.repeat(30)}y.pdf`)
  })

  test('stays below 256 bytes', () => {
    expect(Buffer.byteLength(nameOf(`${'é'.repeat(1000)}.pdf`))).toBeLessThan(256)
  })
})
