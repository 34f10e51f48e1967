import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { ObjectStore, PresignedRequest } from '#platform/objects/object-store.ts'
import { type Answer, request } from '#test/http-client.ts'
import { type OpenStore, openFileStore, openS3Store } from '#test/object-stores.ts'

const CONTENT = Buffer.from('0123456789')

const STORES = [
  { name: 'the filesystem', open: openFileStore },
  { name: 'S3', open: openS3Store },
]
const LETTERS = ['a', 'B', 'b', 'ü', '!', '0', '😀']

describe.each(STORES)('objects in $name', ({ open }) => {
  let opened: OpenStore
  let store: ObjectStore
  beforeAll(async () => {
    opened = await open()
    store = opened.store
  })
  afterAll(() => opened[Symbol.asyncDispose]())

  test('come back as they were put', async () => {
    const put = await store.put('sites/one/back', CONTENT, {
      contentType: 'text/plain; charset=utf-8',
      metadata: { Colour: 'blue', size: 'XL' },
    })
    const found = await store.get('sites/one/back')
    expect(await bytesOf(found?.body)).toEqual(CONTENT)
    expect(found?.head).toMatchObject({
      key: 'sites/one/back',
      sizeBytes: 10,
      contentType: 'text/plain; charset=utf-8',
      etag: '"781e5e245d69b566979b86e28d23f2c7"',
      metadata: { colour: 'blue', size: 'XL' },
    })
    const head = await store.head('sites/one/back')
    expect(head?.etag).toBe(put.etag)
    expect(Math.abs(Date.now() - Number(head?.lastModified))).toBeLessThan(60_000)
  })

  test('are replaced whole, with what describes them', async () => {
    await store.put('sites/one/twice', CONTENT, { contentType: 'text/a', metadata: { a: '1' } })
    await store.put('sites/one/twice', Buffer.from('new'))
    const found = await store.get('sites/one/twice')
    expect((await bytesOf(found?.body)).toString()).toBe('new')
    expect(found?.head).toMatchObject({ contentType: 'application/octet-stream', metadata: {} })
  })

  test('may be empty', async () => {
    await store.put('sites/one/empty', new Uint8Array())
    const found = await store.get('sites/one/empty')
    expect(found?.head.sizeBytes).toBe(0)
    expect(await bytesOf(found?.body)).toHaveLength(0)
  })

  test('are undefined when missing, and gone when deleted', async () => {
    expect(await store.get('sites/one/never')).toBeUndefined()
    expect(await store.head('sites/one/never')).toBeUndefined()
    await store.delete('sites/one/never')
    await store.put('sites/one/gone', CONTENT)
    await store.delete('sites/one/gone')
    expect(await store.head('sites/one/gone')).toBeUndefined()
  })

  test('stream in and out', async () => {
    await store.put('sites/one/long', streamOf(40, 100_000))
    const found = await store.get('sites/one/long')
    expect(found?.head.sizeBytes).toBe(4_000_000)
    const bytes = await bytesOf(found?.body)
    expect(bytes).toHaveLength(4_000_000)
    expect(bytes.at(-1)).toBe(39)
  })

  test.each([
    [{ start: 0, end: 1 }, '01'],
    [{ start: 3, end: 5 }, '345'],
    [{ start: 7 }, '789'],
    [{ start: 8, end: 99 }, '89'],
  ])('are read from %j', async (range, text) => {
    await store.put('sites/one/range', CONTENT)
    const found = await store.get('sites/one/range', range)
    expect((await bytesOf(found?.body)).toString()).toBe(text)
    expect(found?.head.sizeBytes).toBe(10)
  })

  test('have nothing behind their end', async () => {
    await store.put('sites/one/range', CONTENT)
    await expect(store.get('sites/one/range', { start: 10 })).rejects.toMatchObject({
      code: 'RangeNotSatisfiable',
    })
  })

  test.each([
    ['bytes', () => CONTENT],
    ['a stream', () => streamOf(5, 1000)],
    ['a long stream', () => streamOf(20, 100_000)],
  ])('longer than allowed are not stored, from %s', async (_what, body) => {
    await expect(store.put('sites/one/bound', body(), { maxBytes: 9 })).rejects.toMatchObject({
      code: 'PayloadTooLarge',
    })
    expect(await store.head('sites/one/bound')).toBeUndefined()
  })

  test('of a stream that fails are not stored', async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(CONTENT)
      },
      pull() {
        throw new Error('cut off')
      },
    })
    await expect(store.put('sites/one/cut', body)).rejects.toThrow('cut off')
    expect(await store.head('sites/one/cut')).toBeUndefined()
  })

  test('are not overwritten where only a new one may be put', async () => {
    await store.put('sites/one/once', CONTENT, { ifNoneMatch: '*' })
    const again = store.put('sites/one/once', Buffer.from('other'), { ifNoneMatch: '*' })
    await expect(again).rejects.toMatchObject({ code: 'PreconditionFailed' })
    expect(await bytesOf((await store.get('sites/one/once'))?.body)).toEqual(CONTENT)
  })

  test.each([
    ['an empty key', '', {}],
    ['a key over its bound', 'ü'.repeat(600), {}],
    ['a key with NUL', 'a\0b', {}],
    ['half a surrogate pair', 'a\ud800', {}],
    ['a line break in the content type', 'k', { contentType: 'text/a\r\nx: y' }],
    ['metadata that is not ASCII', 'k', { metadata: { name: 'ü' } }],
    ['metadata over 2 KiB', 'k', { metadata: { name: 'x'.repeat(2048) } }],
  ])('refuse %s', async (_what, key, options) => {
    await expect(store.put(key, CONTENT, options)).rejects.toMatchObject({
      code: 'ValidationError',
    })
  })

  test('are listed in pages, each only once', async () => {
    for (const name of ['e', 'b', 'd', 'a', 'c']) await store.put(`sites/one/page/${name}`, CONTENT)
    const [page] = [await store.list({ prefix: 'sites/one/page/', maxKeys: 2 })]
    expect(page.objects).toMatchObject([
      { key: 'sites/one/page/a', sizeBytes: 10, etag: '"781e5e245d69b566979b86e28d23f2c7"' },
      { key: 'sites/one/page/b' },
    ])
    const rest = await store.list({
      prefix: 'sites/one/page/',
      maxKeys: 5,
      continuation: page.continuation ?? '',
    })
    expect(rest.objects.map((object) => object.key.at(-1))).toEqual(['c', 'd', 'e'])
    expect(rest.continuation).toBeUndefined()
    const after = await store.list({
      prefix: 'sites/one/page/',
      startAfter: 'sites/one/page/c',
      maxKeys: 5,
    })
    expect(after.objects.map((object) => object.key.at(-1))).toEqual(['d', 'e'])
  })

  test('are found to be there', async () => {
    await store.ping()
    expect(await store.list({ prefix: 'sites/nowhere/', maxKeys: 1 })).toEqual({
      objects: [],
      commonPrefixes: [],
      continuation: undefined,
    })
  })

  describe('through a signed URL', () => {
    test('are fetched, under a name of their own', async () => {
      await store.put('sites/one/files/a b/ü?.txt', CONTENT, { contentType: 'text/plain' })
      const signed = await store.presignGet('sites/one/files/a b/ü?.txt', {
        expiresInSeconds: 60,
        downloadName: 'Übersicht "1".txt',
      })
      expect(signed.method).toBe('GET')
      expect(signed.expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(60_000)
      const answer = await send(signed)
      expect(answer).toMatchObject({ status: 200, text: '0123456789' })
      expect(answer.headers['content-disposition']).toBe(
        `attachment; filename="_bersicht _1_.txt"; filename*=UTF-8''%C3%9Cbersicht%20%221%22.txt`,
      )
    })

    test('are put, of the signed type and length', async () => {
      const signed = await presignPut('sites/one/staged')
      expect(signed.headers).toEqual({ 'Content-Type': 'image/png' })
      expect((await send(signed, { body: CONTENT })).status).toBe(200)
      expect(await store.head('sites/one/staged')).toMatchObject({
        sizeBytes: 10,
        contentType: 'image/png',
      })
    })

    const refused = [400, 403, 411, 413]
    test.each([
      ['another type', { headers: { 'content-type': 'text/html' } }],
      ['a longer body', { headers: { 'content-length': '11' }, body: Buffer.alloc(11) }],
      ['a shorter body', { headers: { 'content-length': '9' }, body: Buffer.alloc(9) }],
      ['another method', { method: 'DELETE' }],
      ['another key', { path: (path: string) => path.replace(/(\/[^/?]*)[^/?]\?/, '$1A?') }],
      ['a later expiry', { path: (path: string) => path.replace(/(xpires=\d*)(&|$)/, '$10$2') }],
    ])('refuse %s', async (_what, change) => {
      const signed = await presignPut('sites/one/refused')
      const answer = await send(signed, { body: CONTENT, ...change })
      expect([...refused, 404]).toContain(answer.status)
      expect(await store.head('sites/one/refused')).toBeUndefined()
    })

    test('refuse one that has expired', async () => {
      const past = { now: () => new Date(Date.now() - 120_000) }
      await using earlier = opened.at(past)
      await store.put('sites/one/old', CONTENT)
      const signed = await earlier.presignGet('sites/one/old', { expiresInSeconds: 60 })
      expect((await send(signed)).status).toBe(403)
    })

    test.each([0, 604_801, 1.5])('refuse to live for %d seconds', async (expiresInSeconds) => {
      await expect(store.presignGet('sites/one/x', { expiresInSeconds })).rejects.toMatchObject({
        code: 'ValidationError',
      })
    })

    const presignPut = (key: string) =>
      store.presignPut(key, { expiresInSeconds: 60, contentType: 'image/png', sizeBytes: 10 })
  })

  test('agree with a map, whatever is done to them', { timeout: 120_000 }, async () => {
    const segment = fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 3 })
    const key = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
    let run = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.boolean(), key), { maxLength: 25 }),
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom('', ...LETTERS),
        async (steps, maxKeys, first) => {
          const root = `sites/one/run${run++}/`
          const model = new Map<string, string>()
          for (const [kept, name] of steps) {
            const full = root + name
            if (kept) {
              await store.put(full, Buffer.from(name))
              model.set(full, name)
            } else {
              await store.delete(full)
              model.delete(full)
            }
          }
          const keys = [...model.keys()].toSorted((a, b) => Buffer.from(a).compare(Buffer.from(b)))
          expect(await listAll(store, { prefix: root, maxKeys })).toEqual({ keys, prefixes: [] })
          const prefix = root + first
          expect(await listAll(store, { prefix, delimiter: '/', maxKeys })).toEqual(
            grouped(keys, prefix),
          )
          for (const [full, text] of model) {
            expect((await bytesOf((await store.get(full))?.body)).toString()).toBe(text)
          }
        },
      ),
      { numRuns: 25 },
    )
  })
})

async function listAll(
  store: ObjectStore,
  options: { prefix: string; delimiter?: string; maxKeys: number },
) {
  const keys: string[] = []
  const prefixes: string[] = []
  let continuation: string | undefined
  do {
    const page = await store.list({ ...options, ...(continuation ? { continuation } : {}) })
    expect(page.objects.length + page.commonPrefixes.length).toBeLessThanOrEqual(options.maxKeys)
    keys.push(...page.objects.map((object) => object.key))
    prefixes.push(...page.commonPrefixes)
    continuation = page.continuation
  } while (continuation !== undefined)
  return { keys, prefixes }
}

function grouped(keys: readonly string[], prefix: string) {
  const matching = keys.filter((key) => key.startsWith(prefix))
  const cut = (key: string) => key.indexOf('/', prefix.length)
  const prefixes = matching
    .filter((key) => cut(key) !== -1)
    .map((key) => key.slice(0, cut(key) + 1))
  return { keys: matching.filter((key) => cut(key) === -1), prefixes: [...new Set(prefixes)] }
}

interface Change {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly path?: (path: string) => string
}

function send(signed: PresignedRequest, change: Change = {}): Promise<Answer> {
  const url = new URL(signed.url)
  const path = url.pathname + url.search
  return request({
    port: Number(url.port),
    host: url.host,
    method: change.method ?? signed.method,
    path: change.path?.(path) ?? path,
    headers: { ...signed.headers, ...change.headers },
    ...(change.body === undefined ? {} : { body: change.body }),
  })
}

async function bytesOf(body: ReadableStream<Uint8Array> | undefined): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body ?? []) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function streamOf(chunks: number, size: number): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream({
    pull(controller) {
      if (sent === chunks) controller.close()
      else controller.enqueue(new Uint8Array(size).fill(sent++))
    },
  })
}
