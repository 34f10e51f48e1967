import { Buffer } from 'node:buffer'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { encodeFrame, FrameEncoder, FrameReader } from './frames.ts'

describe('frames', () => {
  test('come out whole, however the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 200 })),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
        (texts, cuts) => {
          const stream = Buffer.concat(texts.map(encodeFrame))
          const reader = new FrameReader()
          const read: string[] = []
          // A reader of a socket reads into the same memory again and again.
          const memory = Buffer.alloc(50)
          let at = 0
          for (let step = 0; at < stream.length; step += 1) {
            const size = stream.copy(memory, 0, at, at + (cuts[step % cuts.length] ?? 1))
            read.push(...reader.push(memory.subarray(0, size)))
            memory.fill(0)
            at += size
          }
          expect(read).toEqual(texts)
        },
      ),
    )
  })

  test('keep the number of UTF-16 units, even of half a character', () => {
    const [read] = new FrameReader().push(encodeFrame('a\ud800b😀'))
    expect(read).toHaveLength('a\ud800b😀'.length)
  })

  test('of any size are encoded exactly', () => {
    for (const length of [0, 1, 16_383, 16_384, 16_385, 100_000]) {
      expect(new FrameReader().push(encodeFrame('€'.repeat(length)))).toEqual(['€'.repeat(length)])
    }
  })

  test('that share memory stay what they were', () => {
    const encoder = new FrameEncoder()
    const texts = Array.from({ length: 500 }, (_, at) => `${at} ${'ü'.repeat((at * 37) % 3000)}`)
    const frames = texts.map((text) => encoder.encode(text))
    expect(new FrameReader().push(Buffer.concat(frames))).toEqual(texts)
  })

  test('longer than allowed are refused before they are read', () => {
    const reader = new FrameReader(10)
    expect(() => reader.push(encodeFrame('x'.repeat(11)).subarray(0, 4))).toThrow('11 bytes')
  })
})
