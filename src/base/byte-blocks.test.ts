import { describe, expect, test } from 'vitest'

import { ByteBlocks } from './byte-blocks.ts'

const BYTES = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 7919) % 251))

describe('bytes in blocks', () => {
  test.each([1, 1000, 70_000, 3_000_000])('come back as they were added, %i at a time', (step) => {
    const length = step === 1 ? 20_000 : BYTES.byteLength
    const blocks = new ByteBlocks()
    for (let at = 0; at < length; at += step) blocks.add(BYTES.subarray(at, at + step))
    expect(blocks.sizeBytes).toBe(length)
    expect(blocks.join().equals(BYTES.subarray(0, length))).toBe(true)
  })

  test('hold little more than has arrived, however small the chunks', () => {
    const blocks = new ByteBlocks()
    expect(blocks.heldBytes).toBe(0)
    for (let at = 0; at < 100_000; at += 1) blocks.add(BYTES.subarray(at, at + 1))
    expect(blocks.heldBytes).toBeGreaterThanOrEqual(100_000)
    expect(blocks.heldBytes).toBeLessThan(200_000)
  })
})
