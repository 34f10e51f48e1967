import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { installRoot } from '#config/install-root.ts'

import { BreachedList } from './breached-list.ts'

const FILE = join(installRoot(), 'resources/breached-passwords.bin')
const ENTRY_BYTES = 6

describe('the list of breached passwords', () => {
  const list = new BreachedList()

  test('is 100,000 different ones, in order', async () => {
    const bytes = await readFile(FILE)
    expect(bytes.length).toBe(100_000 * ENTRY_BYTES)
    const entries = Array.from({ length: 100_000 }, (_, at) =>
      bytes.toString('hex', at * ENTRY_BYTES, (at + 1) * ENTRY_BYTES),
    )
    expect(new Set(entries).size).toBe(entries.length)
    expect(entries.every((entry, at) => at === 0 || entry > (entries[at - 1] ?? ''))).toBe(true)
  })

  test.each(['password', '12345678', 'football', 'Liverpool', 'charlie1', 'ILOVEYOU', 'trustno1'])(
    'has %s',
    async (password) => {
      expect(await list.has(password)).toBe(true)
    },
  )

  test.each(['', 'Tr4vel-light', 'correct-horse-battery-staple', 'x'.repeat(256), '🐎🐎🐎🐎'])(
    'has not "%s"',
    async (password) => {
      expect(await list.has(password)).toBe(false)
    },
  )
})
