import { gzipSync } from 'node:zlib'

import { describe, expect, test } from 'vitest'

import { randomIds } from '#base/ids.ts'
import { RequestScopes } from '#http/request-scope.ts'

import { readJson, readText, uploadStream } from './read-body.ts'
import {
  type RequestBody,
  formBody,
  jsonBody,
  optionalJsonBody,
  uploadBody,
} from './request-body.ts'

const KIB = 1024
const LIMIT = jsonBody().limitBytes
const JSON_TYPE = { 'content-type': 'application/json' }
const scopes = new RequestScopes([], randomIds)

function received(init: RequestInit & { duplex?: 'half' }): Request {
  const request = new Request('http://one.test/x', { method: 'POST', ...init })
  scopes.open(request, { address: '203.0.113.1' })
  return request
}

const streamed = (bytes: number): Request => {
  let left = bytes
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const size = Math.min(left, KIB * KIB)
      left -= size
      if (size === 0) controller.close()
      else controller.enqueue(new Uint8Array(size))
    },
  })
  return received({ headers: JSON_TYPE, body, duplex: 'half' })
}

const declaring = (length: number, headers: Record<string, string> = JSON_TYPE): Request =>
  received({ body: 'x', headers: { ...headers, 'content-length': String(length) } })

describe('a request body', () => {
  test('that declares more than the limit is refused unread', () => {
    const request = declaring(LIMIT + 1)
    expect(() => jsonBody().checkDeclaredLength(request)).toThrow(`longer than ${LIMIT} bytes`)
    expect(request.bodyUsed).toBe(false)
  })

  test('of unknown length is cut off at the limit', async () => {
    await expect(readText(streamed(LIMIT + 1), jsonBody())).rejects.toMatchObject({
      code: 'PayloadTooLarge',
    })
  })

  test('of unknown length within the limit is read whole', async () => {
    expect(await readText(streamed(100_000), jsonBody())).toHaveLength(100_000)
  })

  test('of an upload is passed on as it comes, however long', async () => {
    const stream = uploadStream(streamed(LIMIT + 1))
    expect((await new Response(stream).arrayBuffer()).byteLength).toBe(LIMIT + 1)
  })

  test('of a form has its own limit', () => {
    const check = (length: number) => () => formBody().checkDeclaredLength(declaring(length, {}))
    expect(check(256 * KIB)).not.toThrow()
    expect(check(256 * KIB + 1)).toThrow(expect.objectContaining({ code: 'PayloadTooLarge' }))
  })

  test('that is no JSON where JSON is wanted is refused unread', async () => {
    const request = received({ body: '{}', headers: { 'content-type': 'text/plain' } })
    await expect(readJson(request, jsonBody())).rejects.toMatchObject({
      code: 'UnsupportedMediaType',
    })
    expect(request.bodyUsed).toBe(false)
  })

  test.each([
    ['short', { headers: { ...JSON_TYPE, 'content-length': '4' } }],
    ['in chunks', { headers: JSON_TYPE }],
  ])('that is not UTF-8 is refused: %s', async (_how, init) => {
    const request = received({ ...init, body: Buffer.from('"a\xff"', 'latin1') })
    await expect(readJson(request, jsonBody())).rejects.toMatchObject({
      code: 'InvalidJson',
      message: expect.stringContaining('send JSON in UTF-8'),
    })
  })

  test.each(['"\uFFFD"', '\uFEFF"\u{1F600}"'])('may hold any character: %s', async (json) => {
    for (const length of [{}, { 'content-length': String(Buffer.byteLength(json)) }]) {
      const request = received({ headers: { ...JSON_TYPE, ...length }, body: json })
      expect(await readJson(request, jsonBody())).toBe(JSON.parse(json.replace('\uFEFF', '')))
    }
  })

  test.each(['gzip', 'X-GZIP', ' gzip '])('is decompressed: %s', async (coding) => {
    const zipped = gzipSync('{"a":1}')
    for (const length of [{}, { 'content-length': String(zipped.byteLength) }]) {
      const headers = { ...JSON_TYPE, 'content-encoding': coding, ...length }
      expect(await readJson(received({ headers, body: zipped }), jsonBody())).toEqual({ a: 1 })
    }
  })

  test('that says "identity" is read as it is', async () => {
    const headers = { ...JSON_TYPE, 'content-encoding': 'identity', 'content-length': '2' }
    expect(await readJson(received({ headers, body: '{}' }), jsonBody())).toEqual({})
  })

  test.each(['compress', 'gzip, br', 'gzip;q=1', '__proto__'])(
    'in another coding is refused unread: %s',
    async (coding) => {
      const headers = { ...JSON_TYPE, 'content-encoding': coding }
      const request = received({ headers, body: '{}' })
      await expect(readJson(request, jsonBody())).rejects.toMatchObject({
        code: 'UnsupportedMediaType',
        fields: { acceptEncoding: 'gzip, deflate, br, zstd' },
      })
      expect(request.bodyUsed).toBe(false)
    },
  )

  test.each([
    ['json', jsonBody(), undefined],
    ['optional-json', optionalJsonBody(), {}],
  ])('that is not there is no matter of its type: %s', async (_kind, body, value) => {
    const request = received({ headers: { 'content-type': 'text/plain' } })
    expect(await readJson(request, body)).toEqual(value)
  })

  test.each<[string, RequestBody]>([
    ['json', jsonBody(4 * KIB * KIB)],
    ['upload', uploadBody()],
  ])('has the limit that its route declares: %s', (_kind, body) => {
    const check = (length: number) => () => body.checkDeclaredLength(declaring(length))
    expect(check(body.limitBytes)).not.toThrow()
    expect(check(body.limitBytes + 1)).toThrow(`than ${body.limitBytes} bytes`)
  })
})
