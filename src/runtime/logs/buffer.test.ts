import { describe, expect, test } from 'vitest'

import { LogBuffer } from './buffer.ts'
import type { NewLogLine } from './model.ts'

const NOW = new Date('2026-01-02T12:00:00.000Z')
const line = (message: string): NewLogLine => ({
  at: NOW,
  level: 'info',
  kind: 'console',
  operation: 'hello',
  requestId: 'r',
  message,
  fields: null,
})

describe('the log buffer', () => {
  test('hands out each line once, in order', () => {
    const buffer = new LogBuffer()
    buffer.add('a', line('1'))
    buffer.add('b', line('x'))
    buffer.add('a', line('2'))
    expect(buffer.sites()).toEqual(['a', 'b'])
    expect(buffer.take('a', NOW).map(({ message }) => message)).toEqual(['1', '2'])
    expect(buffer.take('a', NOW)).toEqual([])
  })

  test('counts what a flooding site loses and leaves its neighbour alone', () => {
    const buffer = new LogBuffer()
    for (let count = 0; count < 2500; count += 1) buffer.add('a', line('x'))
    buffer.add('b', line('y'))
    const lines = buffer.take('a', NOW)
    expect(lines).toHaveLength(2001)
    expect(lines.at(-1)).toMatchObject({ kind: 'platform', fields: { dropped: 500 } })
    expect(buffer.take('b', NOW)).toHaveLength(1)
  })

  test('bounds what a site holds in characters too', () => {
    const buffer = new LogBuffer()
    for (let count = 0; count < 300; count += 1) buffer.add('a', line('x'.repeat(20_000)))
    const kept = buffer.take('a', NOW)
    expect(kept.reduce((sum, { message }) => sum + message.length, 0)).toBeLessThan(2.1 * 2 ** 20)
    expect(kept[0]?.message).toHaveLength(16 * 1024)
  })

  test('makes what PostgreSQL cannot keep storable', () => {
    const buffer = new LogBuffer()
    buffer.add('a', line('nul \0 half \ud800'))
    expect(buffer.take('a', NOW)[0]?.message).toBe('nul \uFFFD half \uFFFD')
  })
})
