import { createHash } from 'node:crypto'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { type RowChunk, rowChunks } from './row-chunks.ts'

const MIB = 1024 * 1024

async function* pieces(text: Buffer, sizes: readonly number[]) {
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? text.length
    yield text.subarray(at, at + size)
    at += size
  }
}

async function cut(text: Buffer, sizes: readonly number[] = [65_536]): Promise<RowChunk[]> {
  return Array.fromAsync(rowChunks(pieces(text, sizes)))
}

/** The same in each run: where chunks end is decided by what is in them. */
const rowsOf = (count: number, bytes: number, seed = ''): Buffer[] =>
  Array.from({ length: count }, (_, row) => {
    const random = createHash('shake256', { outputLength: bytes / 2 }).update(`${seed}${row}`)
    return Buffer.from(`${random.digest('hex')}\n`)
  })

const hashes = (chunks: readonly RowChunk[]): string[] =>
  chunks.map(({ content }) => createHash('sha256').update(content).digest('hex'))

describe('chunks of rows', () => {
  test('are the rows, however these come', async () => {
    const row = fc.string({ unit: 'binary-ascii' }).map((text) => text.replaceAll('\n', ''))
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(fc.array(row), sizes, async (rows, some) => {
        const text = Buffer.from(rows.map((one) => `${one}\n`).join(''))
        const chunks = await cut(text, some)
        expect(Buffer.concat(chunks.map(({ content }) => content))).toEqual(text)
        expect(chunks.reduce((sum, chunk) => sum + chunk.rows, 0)).toBe(rows.length)
      }),
    )
  })

  test.each([
    ['short', 30_000, 300],
    ['long', 60, 100_000],
  ])(
    'of %s rows are bounded, and a change to one row changes one or two',
    async (_, count, bytes) => {
      const rows = rowsOf(count, bytes)
      const before = await cut(Buffer.concat(rows))
      expect(before.length).toBeGreaterThan(3)
      for (const { content } of before) expect(content.length).toBeLessThan(4 * MIB + 2 * bytes)
      const middle = Math.floor(count / 2)
      for (const changed of [
        rows.toSpliced(middle, 0, ...rowsOf(1, bytes, 'more')),
        rows.toSpliced(middle, 1),
        rows.toSpliced(middle, 1, ...rowsOf(1, bytes, 'other')),
      ]) {
        const known = new Set(hashes(before))
        const sent = hashes(await cut(Buffer.concat(changed))).filter((hash) => !known.has(hash))
        expect(sent.length).toBeLessThanOrEqual(2)
      }
    },
  )

  test('fail where the text ends within a row', async () => {
    await expect(cut(Buffer.from('a\nb'))).rejects.toThrow('ended within a row')
  })
})
