import { describe, expect, test } from 'vitest'

import { Base64Text } from './base64-text.ts'

const BYTES = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7919) % 251))

describe('base64 that is written as it comes', () => {
  test.each([0, 1, 2, 3, 3071, 3072, 3073, 9216, 9217, 100_000])('has %i bytes', (length) => {
    for (const step of [1, 1000, 70_000]) {
      const text = new Base64Text()
      for (let at = 0; at < length; at += step) {
        text.add(BYTES.subarray(at, Math.min(at + step, length)))
      }
      expect(text.sizeBytes).toBe(length)
      expect(text.end()).toBe(BYTES.subarray(0, length).toString('base64'))
    }
  })
})
