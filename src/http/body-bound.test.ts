import { describe, expect, test } from 'vitest'

import { RequestBodyBudgets } from './bodies/request-body-budgets.ts'
import { MAX_JSON_BYTES, boundBody } from './body-bound.ts'

const bodies = new RequestBodyBudgets()
const at = (path: string) => ({ path, host: 'one.test', peerAddress: '203.0.113.1' })
const JSON_TYPE = { 'content-type': 'application/json' }

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
    headers: JSON_TYPE,
    body,
    duplex: 'half',
  } as RequestInit)
}

describe('a request body', () => {
  test('that declares more than the bound is refused unread', async () => {
    const request = new Request('http://one.test/data/x', {
      method: 'POST',
      body: 'x',
      headers: { ...JSON_TYPE, 'content-length': String(MAX_JSON_BYTES + 1) },
    })
    expect(() => boundBody(request, at('/data/x'), bodies)).toThrow(
      `longer than ${MAX_JSON_BYTES} bytes`,
    )
    expect(request.bodyUsed).toBe(false)
  })

  test('of unknown length is cut off at the bound', async () => {
    await expect(
      boundBody(streamed(MAX_JSON_BYTES + 1), at('/data/x'), bodies),
    ).rejects.toMatchObject({
      code: 'PayloadTooLarge',
    })
  })

  test('of unknown length within the bound arrives whole', async () => {
    const bounded = await boundBody(streamed(100_000), at('/data/x'), bodies)
    expect((await bounded.arrayBuffer()).byteLength).toBe(100_000)
  })

  test('of an upload arrives as it comes, however long', async () => {
    const request = await boundBody(streamed(MAX_JSON_BYTES + 1), at('/objects/anything'), bodies)
    expect((await request.arrayBuffer()).byteLength).toBe(MAX_JSON_BYTES + 1)
  })

  test.each([
    ['/data/x', 64 * 1024, 'UnsupportedMediaType'],
    ['/oidc/pool/token', 256 * 1024, 'PayloadTooLarge'],
  ])('that is no JSON has its bound: %s', (path, bound, code) => {
    const bounding = (length: number) => () =>
      boundBody(
        new Request(`http://one.test${path}`, {
          method: 'POST',
          body: 'x',
          headers: { 'content-type': 'text/plain', 'content-length': String(length) },
        }),
        at(path),
        bodies,
      )
    expect(bounding(bound)).not.toThrow()
    expect(bounding(bound + 1)).toThrow(expect.objectContaining({ code }))
  })

  test.each([
    ['/data/auth/password/add', 256 * 1024],
    ['/admin/users', 256 * 1024],
    ['/admin/data/resources', 4 * 1024 * 1024],
    ['/admin/data/resources/res_1', 4 * 1024 * 1024],
    ['/admin/data/resources/res_1/data/ddb/put', MAX_JSON_BYTES],
    ['/data/public/order', MAX_JSON_BYTES],
  ])('has its bound by its path: %s', (path, bound) => {
    const request = (length: number) =>
      new Request(`http://one.test${path}`, {
        method: 'POST',
        body: 'x',
        headers: { ...JSON_TYPE, 'content-length': String(length) },
      })
    expect(() => boundBody(request(bound), at(path), bodies)).not.toThrow()
    expect(() => boundBody(request(bound + 1), at(path), bodies)).toThrow(`than ${bound} bytes`)
  })
})
