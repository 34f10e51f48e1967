import { describe, expect, test } from 'vitest'

import { MAX_JSON_BYTES, boundBody } from './body-bound.ts'

const streamed = (bytes: number): Request => {
  let left = bytes
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const size = Math.min(left, 1024 * 1024)
      left -= size
      if (size === 0) controller.close()
      else controller.enqueue(new Uint8Array(size))
    },
  })
  return new Request('http://one.test/data/x', {
    method: 'POST',
    body,
    duplex: 'half',
  } as RequestInit)
}

describe('a request body', () => {
  test('that declares more than the bound is refused unread', async () => {
    const request = new Request('http://one.test/data/x', {
      method: 'POST',
      body: 'x',
      headers: { 'content-length': String(MAX_JSON_BYTES + 1) },
    })
    expect(() => boundBody(request, '/data/x')).toThrow(`longer than ${MAX_JSON_BYTES} bytes`)
    expect(request.bodyUsed).toBe(false)
  })

  test('of unknown length is cut off at the bound', async () => {
    await expect(boundBody(streamed(MAX_JSON_BYTES + 1), '/data/x')).rejects.toMatchObject({
      code: 'PayloadTooLarge',
    })
  })

  test('of unknown length within the bound arrives whole', async () => {
    const bounded = await boundBody(streamed(100_000), '/data/x')
    expect((await bounded.arrayBuffer()).byteLength).toBe(100_000)
  })

  test('of an upload is left to its route', async () => {
    const request = streamed(MAX_JSON_BYTES + 1)
    expect(await boundBody(request, '/objects/anything')).toBe(request)
  })
})
