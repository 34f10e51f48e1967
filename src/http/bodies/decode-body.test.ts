import {
  brotliCompressSync,
  constants,
  createZstdCompress,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'

import { describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'

import type { ContentCoding } from './content-coding.ts'
import { type DecodedLimit, decodeBody } from './decode-body.ts'

const MIB = 1024 * 1024
const LIMIT = MIB / 4
const COMPRESS = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: zstdCompressSync,
} satisfies Record<ContentCoding, (bytes: Uint8Array) => Buffer>
const CODINGS = Object.keys(COMPRESS) as ContentCoding[]

const tooLong = () => new AppError('PayloadTooLarge', 'too long')
const { signal: never } = new AbortController()
const decode = (
  coding: ContentCoding,
  bytes: Uint8Array,
  { limitBytes = LIMIT, signal = never }: Partial<DecodedLimit> = {},
) => decodeBody({ coding, bytes, host: 'one.test' }, { limitBytes, tooLong, signal })
const ZEROS = Buffer.alloc(48 * MIB)

/** With so little repetition that it shrinks to a fourth: it is refused for its length, not for its growth. */
const digits = (sizeBytes: number): Buffer =>
  Buffer.from(Array.from({ length: sizeBytes }, (_, at) => 48 + (((at * at * 7919) % 997) % 10)))

describe.each(CODINGS)('a body in %s', (coding) => {
  test('is what was compressed, up to the limit', async () => {
    const text = digits(LIMIT)
    expect(text.equals(await decode(coding, COMPRESS[coding](text)))).toBe(true)
    const longer = COMPRESS[coding](digits(LIMIT + 1))
    await expect(decode(coding, longer)).rejects.toThrow('too long')
  })

  test('that is a bomb is refused before the memory grows', async () => {
    const bomb = COMPRESS[coding](ZEROS)
    const before = process.memoryUsage().rss
    const refused = decode(coding, bomb, { limitBytes: ZEROS.byteLength / 8 })
    await expect(refused).rejects.toMatchObject({ code: 'PayloadTooLarge' })
    expect(process.memoryUsage().rss - before).toBeLessThan(ZEROS.byteLength / 1.5)
  })

  test.each([
    ['that is something else', () => Buffer.from('{"payload":1}')],
    ['that is cut off', (whole: Buffer) => whole.subarray(0, -4)],
  ])('%s is refused, and how to mend it is said', async (_what, change) => {
    const body = change(COMPRESS[coding](Buffer.from('{"payload":1}')))
    const refused = decode(coding, body)
    await expect(refused).rejects.toMatchObject({ code: 'InvalidContentEncoding' })
    await expect(refused).rejects.toThrow(`valid ${coding}`)
  })
})

test.each(['br', 'zstd'] as const)(
  'a body in %s may not grow more than a thousandfold',
  async (coding) => {
    const refused = decode(coding, COMPRESS[coding](ZEROS.subarray(0, 2 * MIB)), {
      limitBytes: 4 * MIB,
    })
    await expect(refused).rejects.toMatchObject({ fields: { limitGrowth: 1000 } })
  },
)

test('a zstd body that wants a window of 128 MB is refused', async () => {
  const stream = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: 27 } })
  stream.write('{"payload":')
  stream.flush(() => stream.end('1}'))
  const wide = await new Response(stream as unknown as ReadableStream).bytes()
  await expect(decode('zstd', wide)).rejects.toMatchObject({ code: 'InvalidContentEncoding' })
})

test('a body whose reader is gone is left', async () => {
  const ending = new AbortController()
  const left = decode('gzip', gzipSync(digits(LIMIT)), ending)
  ending.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
})

test('many bodies for one host take turns, and those that are too many come again', async () => {
  const body = gzipSync(digits(10_000))
  const all = await Promise.allSettled(Array.from({ length: 50 }, () => decode('gzip', body)))
  const refused = all.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  expect(refused).toHaveLength(50 - 2 - 32)
  for (const error of refused) {
    expect(error).toMatchObject({ code: 'ServiceUnavailable', retryAfterSeconds: 1 })
  }
})
