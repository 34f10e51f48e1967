import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { type OpenS3Store, openS3Store } from '#test/object-stores.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { SiteTable } from '#test/site-table.ts'
import { type Stack, startStack } from '#test/stack.ts'

const MIB = 1024 * 1024
/** Keys that a filesystem or a URL would take for something else. */
const ODD_KEYS = [
  '../../two/buckets/x',
  '..',
  '.',
  '/etc/passwd',
  'a//b',
  'a/',
  'a',
  'a/../a',
  './a',
  ' spaces ',
  'line\nbreak',
  'q?a=b#c%2e%2e%2f&+',
  '<script>"\'',
  'CON',
  '__proto__',
  '😀/é/e\u0301',
  '\uFFFD\uFEFF',
  '\\..\\x',
]

describe.each(['files', 'S3'])('a bucket on %s', (kind) => {
  const resources = new AsyncDisposableStack()
  let stack: Stack
  let one: RuntimeSite
  let two: RuntimeSite
  let bucket: string
  let s3: OpenS3Store | undefined
  const act = (action: string, body?: unknown, id = bucket) =>
    one.admin('POST', `/resources/${id}/data/s3/${action}`, body)
  const fresh = async (site = one, config = {}) => {
    const name = `b${crypto.randomUUID()}`
    const made = await site.admin('POST', '/resources', { type: 's3Bucket', name, config })
    return made.json.resourceId as string
  }

  beforeAll(async () => {
    s3 = kind === 'S3' ? resources.use(await openS3Store()) : undefined
    const openObjects = async () => s3?.store ?? never()
    stack = resources.use(await startStack(s3 && { platform: { openObjects }, sandbox: 'started' }))
    one = await RuntimeSite.open(stack, 'one.test')
    two = await RuntimeSite.open(stack, 'two.test')
    bucket = await fresh()
  }, 30_000)
  afterAll(() => resources.disposeAsync())

  test('gives back a text as it was put', async () => {
    const body = '\uFEFFgrüß dich\0 😀\r\n'
    const put = await act('put-object', { key: 'notes/a.txt', body, metadata: { Colour: 'blue' } })
    const size = Buffer.byteLength(body)
    expect(put).toMatchObject({
      status: 200,
      json: { ok: true, key: 'notes/a.txt', size, etag: expect.stringMatching(/^"[0-9a-f]{32}"$/) },
    })
    const got = await act('get-object', { key: 'notes/a.txt' })
    expect(got.json).toEqual({
      key: 'notes/a.txt',
      body,
      encoding: 'utf8',
      contentType: 'text/plain; charset=utf-8',
      size,
      etag: put.json.etag,
      lastModified: expect.stringMatching(/^\d{4}-.*Z$/),
      metadata: { colour: 'blue' },
    })
  })

  test('gives back bytes as base64, and text as either when asked', async () => {
    const bytes = Buffer.from([0, 255, 254, 128, 10])
    await act('put-object', { key: 'raw', body: bytes.toString('base64'), encoding: 'base64' })
    expect((await act('get-object', { key: 'raw' })).json).toMatchObject({
      body: bytes.toString('base64'),
      encoding: 'base64',
      contentType: 'application/octet-stream',
    })
    expect(await act('get-object', { key: 'raw', encoding: 'utf8' })).toMatchObject({
      status: 400,
      json: { error: { details: [{ field: 'encoding' }] } },
    })
    await act('put-object', { key: 'json', body: '{}', contentType: 'application/json' })
    expect((await act('get-object', { key: 'json' })).json.body).toBe('{}')
    expect((await act('get-object', { key: 'json', encoding: 'base64' })).json.body).toBe('e30=')
  })

  test.each([
    [{ start: 2, end: 4 }, '234', 'bytes 2-4/10'],
    [{ start: 8 }, '89', 'bytes 8-9/10'],
    ['bytes=1-1', '1', 'bytes 1-1/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
  ])('reads the range %j', async (range, body, contentRange) => {
    await act('put-object', { key: 'digits', body: '0123456789' })
    const got = await act('get-object', { key: 'digits', range })
    expect(got.json).toMatchObject({ body, contentRange, size: 10 })
  })

  test('puts only where nothing is, when asked to', async () => {
    const once = { key: 'once', body: '1', ifNoneMatch: '*' }
    expect((await act('put-object', once)).status).toBe(200)
    expect(await act('put-object', once)).toMatchObject({
      status: 412,
      json: { error: { code: 'PreconditionFailed' } },
    })
    await act('delete-object', { key: 'once' })
    expect((await act('put-object', { ...once, body: '2' })).status).toBe(200)
    expect((await act('get-object', { key: 'once' })).json.body).toBe('2')
  })

  test('deletes, and deletes again', async () => {
    await act('put-object', { key: 'gone', body: 'x' })
    for (const _time of [1, 2]) {
      const deleted = await act('delete-object', { key: 'gone' })
      expect(deleted.json).toEqual({ ok: true, key: 'gone' })
    }
    expect(await act('get-object', { key: 'gone' })).toMatchObject({
      status: 404,
      json: { error: { code: 'ObjectNotFound' } },
    })
  })

  test('lists in pages by bytes, groups by a delimiter, and starts after a key', async () => {
    const id = await fresh()
    const keys = ['a/1', 'a/2', 'b', 'é', 'z/x/1', '\u{10000}', '\uFFFD']
    for (const key of keys) await act('put-object', { key, body: key }, id)
    const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const all = await act('list-objects', undefined, id)
    expect(all.json).toMatchObject({ commonPrefixes: [], isTruncated: false, nextToken: null })
    expect(all.json.items.map(({ key }: { key: string }) => key)).toEqual(sorted)
    expect(all.json.items[0]).toEqual({
      key: 'a/1',
      size: 3,
      etag: expect.stringMatching(/^".*"$/),
      lastModified: expect.stringMatching(/Z$/),
    })
    const paged: string[] = []
    for (let nextToken: string | null = null, more = true; more; more = nextToken !== null) {
      const { json } = await act('list-objects', { maxKeys: 2, nextToken }, id)
      paged.push(...json.items.map(({ key }: { key: string }) => key))
      expect(json.isTruncated).toBe(json.nextToken !== null)
      nextToken = json.nextToken
    }
    expect(paged).toEqual(sorted)
    const grouped = await act('list-objects', { delimiter: '/' }, id)
    expect(grouped.json.commonPrefixes).toEqual(['a/', 'z/'])
    const below = await act('list-objects', { prefix: 'z/', delimiter: '/' }, id)
    expect(below.json).toMatchObject({ items: [], commonPrefixes: ['z/x/'] })
    const after = await act('list-objects', { startAfter: 'b', maxKeys: 1 }, id)
    expect(after.json.items).toMatchObject([{ key: 'z/x/1' }])
    expect((await act('list-objects', { maxKeys: 5000 }, id)).json.items).toHaveLength(7)
  })

  test('takes a token of its own list only', async () => {
    const [id, other] = [await fresh(), await fresh()]
    for (const key of ['a', 'b', 'c']) await act('put-object', { key, body: key }, id)
    const { nextToken } = (await act('list-objects', { maxKeys: 1 }, id)).json
    const elsewhere = await fresh(two)
    const attempts = [
      act('list-objects', { nextToken, prefix: 'a' }, id),
      act('list-objects', { nextToken, delimiter: '/' }, id),
      act('list-objects', { nextToken }, other),
      act('list-objects', { nextToken: `${nextToken.slice(0, -2)}AA` }, id),
      act('list-objects', { nextToken: 'AAAA' }, id),
      two.admin('POST', `/resources/${elsewhere}/data/s3/list-objects`, { nextToken }),
    ]
    for (const attempt of await Promise.all(attempts)) {
      expect(attempt).toMatchObject({ status: 400, json: { error: { code: 'InvalidNextToken' } } })
    }
    expect((await act('list-objects', { nextToken }, id)).json.items).toHaveLength(2)
  })

  test('takes 6 MiB in JSON and not a byte more', { timeout: 30_000 }, async () => {
    const full = Buffer.alloc(6 * MIB, 7)
    const put = (bytes: Buffer) =>
      act('put-object', { key: 'big', body: bytes.toString('base64'), encoding: 'base64' })
    expect((await put(full)).json).toMatchObject({ ok: true, size: 6 * MIB })
    const got = await act('get-object', { key: 'big' })
    expect(Buffer.from(got.json.body, 'base64').equals(full)).toBe(true)
    expect(await put(Buffer.alloc(6 * MIB + 1))).toMatchObject({
      status: 413,
      json: { error: { code: 'PayloadTooLarge', message: expect.stringContaining('presign') } },
    })
    expect((await act('get-object', { key: 'big' })).json.size).toBe(6 * MIB)
  })

  test.each<[string, string, object]>([
    ['no key', 'put-object', { body: 'x' }],
    ['an empty key', 'put-object', { key: '', body: 'x' }],
    ['a key that is too long', 'put-object', { key: 'ü'.repeat(513), body: 'x' }],
    ['NUL in a key', 'get-object', { key: 'a\0b' }],
    ['half a surrogate pair', 'get-object', { key: 'a\ud800' }],
    ['half a surrogate pair in a body', 'put-object', { key: 'a', body: '\udc00' }],
    ['base64 without padding', 'put-object', { key: 'a', body: 'QQ', encoding: 'base64' }],
    ['base64 with a break', 'put-object', { key: 'a', body: 'QUJD\nQUJD', encoding: 'base64' }],
    ['base64url', 'put-object', { key: 'a', body: '-_-_', encoding: 'base64' }],
    ['stray bits', 'put-object', { key: 'a', body: 'QQ==QQ==', encoding: 'base64' }],
    ['a word for a body', 'put-object', { key: 'a', body: 7 }],
    ['an unknown field', 'put-object', { key: 'a', body: 'x', acl: 'public-read' }],
    ['an unknown encoding', 'put-object', { key: 'a', body: 'x', encoding: 'hex' }],
    ['a header in a type', 'put-object', { key: 'a', body: 'x', contentType: 'a/b\r\nx: y' }],
    ['no type at all', 'put-object', { key: 'a', body: 'x', contentType: 'html' }],
    ['a header in metadata', 'put-object', { key: 'a', body: 'x', metadata: { a: 'b\r\nc: d' } }],
    ['a header as a name', 'put-object', { key: 'a', body: 'x', metadata: { 'a\r\nb': 'c' } }],
    ['a name twice', 'put-object', { key: 'a', body: 'x', metadata: { a: '1', A: '2' } }],
    ['metadata that is not text', 'put-object', { key: 'a', body: 'x', metadata: { a: 1 } }],
    ['too much metadata', 'put-object', { key: 'a', body: 'x', metadata: { a: 'x'.repeat(2048) } }],
    ['another condition', 'put-object', { key: 'a', body: 'x', ifNoneMatch: '"e"' }],
    ['maxKeys 0', 'list-objects', { maxKeys: 0 }],
    ['maxKeys as text', 'list-objects', { maxKeys: '5' }],
    ['a prefix that is too long', 'list-objects', { prefix: 'x'.repeat(1025) }],
    ['a range behind the end', 'get-object', { key: 'here', range: { start: 1 } }],
    ['a range backwards', 'get-object', { key: 'here', range: 'bytes=4-2' }],
    ['two ranges', 'get-object', { key: 'here', range: 'bytes=0-1,3-4' }],
    ['an expiry of 0', 'presign-get-object', { key: 'a', expiresInSeconds: 0 }],
    ['an expiry over a week', 'presign-get-object', { key: 'a', expiresInSeconds: 604_801 }],
    ['a header in a name', 'presign-get-object', { key: 'a', downloadName: 'x\r\ny: z' }],
    ['half a byte', 'presign-put-object', { key: 'a', contentType: 'text/plain', sizeBytes: 0.5 }],
    ['a type that is none', 'presign-put-object', { key: 'a', contentType: 'text' }],
  ])('refuses %s', async (_what, action, body) => {
    await act('put-object', { key: 'here', body: 'x' })
    const answer = await act(action, body)
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(answer.json.error.details[0].field).toMatch(/^\w+/)
    expect((await act('get-object', { key: 'a' })).status).toBe(404)
  })

  test('keeps to its own setting of how large an object may be', async () => {
    const id = await fresh(one, { maxObjectBytes: 3 })
    expect((await act('put-object', { key: 'a', body: '123' }, id)).status).toBe(200)
    const sizeBytes = 4
    for (const answer of [
      await act('put-object', { key: 'a', body: '1234' }, id),
      await act('presign-put-object', { key: 'a', contentType: 'text/plain', sizeBytes }, id),
    ]) {
      expect(answer).toMatchObject({ status: 413, json: { error: { limitBytes: 3 } } })
    }
  })

  test('is open to its caller only', async () => {
    await act('put-object', { key: 'mine', body: 'secret' })
    const path = `/admin/data/resources/${bucket}/data/s3/get-object`
    const ask = (host: string, token: string) =>
      stack.call(host, 'POST', path, { token, body: { key: 'mine' } })
    const foreign = await ask('two.test', await stack.adminToken('two.test'))
    expect(foreign).toMatchObject({ status: 404, json: { error: { code: 'ResourceNotFound' } } })
    expect((await ask('one.test', await stack.adminToken('two.test'))).status).toBe(401)
    expect((await ask('one.test', await stack.dataToken('one.test'))).status).toBe(401)
    expect((await ask('one.test', await stack.adminToken('one.test', 'user'))).status).toBe(403)
    expect((await ask('one.test', await stack.adminToken('one.test', 'admin'))).status).toBe(200)
  })

  test('has these actions and no others, and is a bucket', async () => {
    const unknown = await act('copy-object', { key: 'a' })
    expect(unknown).toMatchObject({ status: 404, json: { error: { code: 'RouteNotFound' } } })
    expect(unknown.json.error.actions).toHaveLength(6)
    const table = await one.admin('POST', '/resources', {
      type: 'ddbTable',
      name: `t${crypto.randomUUID()}`,
      config: { partitionKey: { name: 'id', type: 'S' } },
    })
    expect(await act('list-objects', {}, table.json.resourceId)).toMatchObject({
      status: 400,
      json: { error: { details: [{ field: 'resourceId' }] } },
    })
    const broken = await one.send(`/admin/data/resources/${bucket}/data/s3/put-object`, '{"key', {
      authorization: `Bearer ${await stack.adminToken('one.test')}`,
    })
    expect(broken).toMatchObject({ status: 400, json: { error: { code: 'InvalidJson' } } })
  })

  test.skipIf(kind === 'S3')('takes keys for what they are, never for paths', async () => {
    const id = await fresh()
    const longest = 'ü'.repeat(512)
    const keys = [...ODD_KEYS, longest]
    for (const key of keys) {
      const put = await act('put-object', { key, body: key }, id)
      expect(put.json, key).toMatchObject({ ok: true, key })
    }
    for (const key of keys) {
      expect((await act('get-object', { key }, id)).json).toMatchObject({ key, body: key })
    }
    const listed = await act('list-objects', {}, id)
    expect(listed.json.items.map(({ key }: { key: string }) => key)).toEqual(
      keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    )
    const theirs = await fresh(two)
    const across = `../../../${(await stack.context.sites.find('two.test')).siteId}/buckets/${theirs}/x`
    await act('put-object', { key: across, body: 'x' }, id)
    const seen = await two.admin('POST', `/resources/${theirs}/data/s3/list-objects`, {})
    expect(seen.json.items).toEqual([])
    for (const key of [...keys, across]) await act('delete-object', { key }, id)
    expect((await act('list-objects', {}, id)).json.items).toEqual([])
  })

  test.skipIf(kind === 'S3')('stays after a restart and on another replica', async () => {
    await act('put-object', { key: 'kept', body: 'kept' })
    await using beside = await startStack({ beside: stack })
    const there = await RuntimeSite.open(beside, 'one.test')
    const path = `/resources/${bucket}/data/s3`
    expect((await there.admin('POST', `${path}/get-object`, { key: 'kept' })).json.body).toBe(
      'kept',
    )
  })

  test.skipIf(kind === 'files')(
    'that hangs is 503 within seconds, and nothing else is',
    async () => {
      const table = await SiteTable.create(one, 'beside', {
        partitionKey: { name: 'id', type: 'S' },
      })
      s3?.fallSilent()
      const startedMs = performance.now()
      const waiting = await Promise.all([
        act('put-object', { key: 'x', body: 'x' }),
        act('get-object', { key: 'kept' }),
        act('list-objects', {}),
        act('delete-object', { key: 'x' }),
      ])
      expect(performance.now() - startedMs).toBeLessThan(6000)
      for (const answer of waiting) {
        const json = { error: { code: 'ServiceUnavailable' } }
        expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '2' }, json })
      }
      await table.do('put', { item: { id: 'a' } })
      expect(await stack.call('any.host', 'GET', '/readyz')).toMatchObject({
        status: 200,
        json: { status: 'ready', checks: { postgres: 'ok', objects: 'does not answer' } },
      })
      s3?.answerAgain()
      const put = () => act('put-object', { key: 'x', body: 'x' })
      await vi.waitFor(async () => expect(await put()).toMatchObject({ status: 200 }), {
        timeout: 10_000,
      })
    },
  )
})

function never(): never {
  throw new Error('only with an S3 store')
}
