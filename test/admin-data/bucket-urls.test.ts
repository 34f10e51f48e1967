import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Answer, request } from '#test/http-client.ts'
import { openS3Store } from '#test/object-stores.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

interface Signed {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly expiresAt: string
}

interface Change {
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  readonly headers?: Record<string, string>
  readonly method?: string
  readonly host?: string
  readonly path?: (path: string) => string
}

/** What an application does with a presigned request, and what an attacker does. */
function send(signed: Signed, change: Change = {}): Promise<Answer> {
  const url = new URL(signed.url)
  const path = url.pathname + url.search
  return request({
    port: Number(url.port),
    host: change.host ?? url.host,
    method: change.method ?? signed.method,
    path: change.path?.(path) ?? path,
    headers: { ...signed.headers, ...change.headers },
    ...(change.body && { body: change.body }),
  })
}

const DIGITS = Buffer.from('0123456789')

describe.each(['files', 'S3'])('a presigned URL to %s', (kind) => {
  const resources = new AsyncDisposableStack()
  let stack: Stack
  let site: RuntimeSite
  let bucket: string
  const act = async (action: string, body: unknown) =>
    (await site.admin('POST', `/resources/${bucket}/data/s3/${action}`, body)).json
  const presignPut = (key: string, rest = {}): Promise<Signed> =>
    act('presign-put-object', { key, contentType: 'image/png', sizeBytes: 10, ...rest })
  const presignGet = (key: string, rest = {}): Promise<Signed> =>
    act('presign-get-object', { key, ...rest })

  beforeAll(async () => {
    const s3 = kind === 'S3' ? resources.use(await openS3Store()) : undefined
    const { store } = s3 ?? {}
    const openObjects = store && (async () => store)
    stack = resources.use(await startStack({ platform: { ...(openObjects && { openObjects }) } }))
    site = await RuntimeSite.open(stack, 'one.test')
    const made = await site.admin('POST', '/resources', { type: 's3Bucket', name: 'files' })
    bucket = made.json.resourceId
  }, 30_000)
  afterAll(() => resources.disposeAsync())

  test('puts an object that every action then sees', async () => {
    const signed = await presignPut('up/load.png')
    expect(signed).toEqual({
      method: 'PUT',
      url: expect.stringMatching(/^http:/),
      headers: { 'Content-Type': 'image/png' },
      expiresAt: expect.stringMatching(/Z$/),
    })
    expect(Date.parse(signed.expiresAt) - Date.now()).toBeGreaterThan(890_000)
    expect((await send(signed, { body: DIGITS })).status).toBe(200)
    expect(await act('get-object', { key: 'up/load.png' })).toMatchObject({
      body: DIGITS.toString('base64'),
      contentType: 'image/png',
      size: 10,
    })
    expect((await act('list-objects', { prefix: 'up/' })).items).toMatchObject([{ size: 10 }])
  })

  test('gets an object, or a range of it, under a name of its own', async () => {
    await act('put-object', { key: 'down.txt', body: DIGITS.toString() })
    const signed = await presignGet('down.txt', { downloadName: 'é "x".txt' })
    expect(signed).toMatchObject({ method: 'GET', headers: {} })
    const answer = await send(signed)
    expect(answer).toMatchObject({ status: 200, text: '0123456789' })
    expect(answer.headers['content-disposition']).toContain(`filename*=UTF-8''%C3%A9%20%22x%22.txt`)
    const part = await send(await presignGet('down.txt'), { headers: { range: 'bytes=2-4' } })
    expect(part).toMatchObject({ status: 206, text: '234' })
    expect((await send(await presignGet('never'))).status).toBe(404)
  })

  test('takes an object of any type, as long as it is, where nothing more is known of it', async () => {
    const signed: Signed = await act('presign-put-object', { key: 'open/a' })
    expect(signed).toMatchObject({ method: 'PUT', headers: {} })
    const headers = { 'content-type': 'image/gif', 'content-length': '10' }
    expect((await send(signed, { headers, body: DIGITS })).status).toBe(200)
    expect(await act('get-object', { key: 'open/a' })).toMatchObject({
      body: DIGITS.toString('base64'),
      contentType: 'image/gif',
      size: 10,
    })
    const longer = { 'content-length': '20' }
    const body = Buffer.concat([DIGITS, DIGITS])
    expect((await send(signed, { headers: longer, body })).status).toBe(200)
    expect(await act('get-object', { key: 'open/a' })).toMatchObject({
      contentType: 'application/octet-stream',
      size: 20,
    })
    const { buckets } = (await site.admin('GET', '/usage')).json
    expect(buckets.usedBytes).toBeGreaterThanOrEqual(20)
  })

  test('takes an object of any type and the size that it names', async () => {
    const signed: Signed = await act('presign-put-object', { key: 'open/b', sizeBytes: 10 })
    expect(signed.headers).toEqual({})
    const headers = { 'content-type': 'image/gif' }
    expect((await send(signed, { headers, body: DIGITS })).status).toBe(200)
    expect(await act('get-object', { key: 'open/b' })).toMatchObject({
      contentType: 'image/gif',
      size: 10,
    })
  })

  test.each<[string, Change, number]>([
    ['more than the bucket takes', { headers: { 'content-length': '11' } }, 413],
    ['another type', { headers: { 'content-type': 'text/html', 'content-length': '10' } }, 403],
    ['a larger bound', { path: (path) => path.replace(/max=\d+/, 'max=99') }, 403],
    ['no bound', { path: (path) => path.replace(/&max=\d+/, '') }, 403],
    [
      'the name of another caller',
      { path: (path) => path.replace(/&sig/, '&for=user%20x&sig') },
      403,
    ],
  ])('of open length refuses %s', async (_what, change, status) => {
    const config = { maxObjectBytes: 10 }
    const name = `small-${crypto.randomUUID()}`
    const made = await site.admin('POST', '/resources', { type: 's3Bucket', name, config })
    const path = `/resources/${made.json.resourceId}/data/s3`
    const asked = { key: 'a', contentType: 'image/png' }
    const signed = (await site.admin('POST', `${path}/presign-put-object`, asked)).json as Signed
    const body = Buffer.alloc(Number(change.headers?.['content-length'] ?? 10))
    const answer = await send(signed, { body, headers: { 'content-length': '10' }, ...change })
    expect(answer.status).toBe(status)
    expect((await site.admin('POST', `${path}/list-objects`)).json.items).toEqual([])
  })

  test.each<[string, Change]>([
    ['another type', { headers: { 'content-type': 'text/html' } }],
    ['a byte more', { headers: { 'content-length': '11' }, body: Buffer.alloc(11) }],
    ['a byte less', { headers: { 'content-length': '9' }, body: Buffer.alloc(9) }],
    ['another method', { method: 'DELETE' }],
    ['another key', { path: (path) => path.replace(/([^/?])\?/, (_all, c) => `${c}A?`) }],
    ['a later expiry', { path: (path) => path.replace(/(xpires=\d*)(&|$)/, '$10$2') }],
    [
      'the name of a caller',
      { path: (path) => path.replace(/&([^&]*ignature=)/, '&for=user%20x&$1') },
    ],
    ['a bound as well', { path: (path) => path.replace(/&([^&]*ignature=)/, '&max=99&$1') }],
    ['a broken signature', { path: (path) => path.replace(/(ignature=)./, '$1~') }],
  ])('refuses %s and stores nothing', async (_what, change) => {
    const signed = await presignPut('refused')
    const { status } = await send(signed, { body: DIGITS, ...change })
    expect([400, 403, 404, 405, 411, 413]).toContain(status)
    expect((await act('list-objects', { prefix: 'refused' })).items).toEqual([])
  })
})

describe('an upload URL of the service itself', () => {
  let stack: Stack
  let site: RuntimeSite
  let bucket: string
  const act = (action: string, body: unknown) =>
    site.admin('POST', `/resources/${bucket}/data/s3/${action}`, body)
  const presignPut = async (key: string, contentType = 'text/plain', sizeBytes = 10) =>
    (await act('presign-put-object', { key, contentType, sizeBytes })).json as Signed

  beforeAll(async () => {
    stack = await startStack()
    site = await RuntimeSite.open(stack, 'one.test')
    const made = await site.admin('POST', '/resources', { type: 's3Bucket', name: 'files' })
    bucket = made.json.resourceId
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  test('belongs to the host of its site', async () => {
    const signed = await presignPut('k')
    expect(new URL(signed.url).hostname).toBe('one.test')
    const answer = await send(signed, { body: DIGITS, host: `two.test:${stack.port}` })
    expect(answer.status).toBe(403)
  })

  test('streams: far more than fits in one JSON', async () => {
    const sizeBytes = 24 * 1024 * 1024
    const signed = await presignPut('big', 'application/zip', sizeBytes)
    async function* chunks() {
      for (let sent = 0; sent < 24; sent++) yield Buffer.alloc(1024 * 1024, sent)
    }
    const headers = { 'content-length': String(24 * 1024 * 1024) }
    expect((await send(signed, { headers, body: chunks() })).status).toBe(200)
    const refused = await act('get-object', { key: 'big' })
    expect(refused.json.error).toMatchObject({ code: 'PayloadTooLarge', limitBytes: 6291456 })
    const part = await act('get-object', { key: 'big', range: 'bytes=-2' })
    expect(Buffer.from(part.json.body, 'base64')).toEqual(Buffer.from([23, 23]))
    const whole = (await act('presign-get-object', { key: 'big' })).json as Signed
    expect((await send(whole)).bytes).toHaveLength(sizeBytes)
  })

  test('ends when it says', async () => {
    await using earlier = await startStack({
      beside: stack,
      platform: { clock: { now: () => new Date(Date.now() - 120_000) } },
    })
    const there = await RuntimeSite.open(earlier, 'one.test')
    const body = { key: 'late', contentType: 'a/b', sizeBytes: 10, expiresInSeconds: 60 }
    const path = `/resources/${bucket}/data/s3/presign-put-object`
    const signed = (await there.admin('POST', path, body)).json as Signed
    expect((await send(signed, { body: DIGITS })).status).toBe(403)
    expect((await act('list-objects', { prefix: 'late' })).json.items).toEqual([])
  })

  test('is counted at once', async () => {
    const before = (await site.admin('GET', '/usage')).json.buckets
    await send(await presignPut('counted'), { body: DIGITS })
    const after = (await site.admin('GET', '/usage')).json.buckets
    expect(after.usedBytes - before.usedBytes).toBe(10)
    expect(after.usedObjects - before.usedObjects).toBe(1)
  })

  test('is dead when its bucket is', async () => {
    const made = await site.admin('POST', '/resources', { type: 's3Bucket', name: 'short' })
    const signed = (
      await site.admin('POST', `/resources/${made.json.resourceId}/data/s3/presign-put-object`, {
        key: 'k',
        contentType: 'a/b',
        sizeBytes: 10,
      })
    ).json
    await site.admin('DELETE', `/resources/${made.json.resourceId}?confirm=true`)
    expect((await send(signed, { body: DIGITS })).status).toBe(404)
  })

  test('puts only where nothing is, when asked to', async () => {
    const headers = { 'if-none-match': '*' }
    const signed = await presignPut('new')
    const tries = [0, 1, 2, 3].map(() => send(signed, { body: DIGITS, headers }))
    const answers = await Promise.all(tries)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(({ json }) => json.error.code)).toEqual(Array(3).fill('PreconditionFailed'))
    const before = (await site.admin('GET', '/usage')).json.buckets
    expect((await send(signed, { body: DIGITS, headers })).status).toBe(412)
    expect((await send(signed, { body: DIGITS })).status).toBe(200)
    expect((await site.admin('GET', '/usage')).json.buckets).toEqual(before)
  })

  test.each([
    ['content-encoding', 415, 'UnsupportedMediaType'],
    ['content-range', 501, 'NotImplemented'],
    ['if-match', 501, 'NotImplemented'],
    ['if-none-match', 501, 'NotImplemented'],
  ])('refuses %s, which it would have to ignore', async (name, status, code) => {
    const signed = await presignPut(`unserved-${name}`)
    const refused = await send(signed, { body: DIGITS, headers: { [name]: '"x"' } })
    expect(refused).toMatchObject({ status, json: { error: { code } } })
    const { items } = (await act('list-objects', { prefix: 'unserved' })).json
    expect(items).toEqual([])
  })

  test('answers the conditions of a download', async () => {
    await act('put-object', { key: 'conditional', body: '0123456789', contentType: 'text/plain' })
    const signed = (await act('presign-get-object', { key: 'conditional' })).json as Signed
    const { headers } = await send(signed)
    const ask = (asked: Record<string, string>) => send(signed, { headers: asked })
    const etag = headers['etag'] ?? ''
    const since = headers['last-modified'] ?? ''
    expect(await ask({ 'if-none-match': `"x", W/${etag}` })).toMatchObject({
      status: 304,
      text: '',
      headers: { etag },
    })
    expect((await ask({ 'if-modified-since': since })).status).toBe(304)
    expect(await ask({ 'if-match': '"x"', range: 'bytes=5-' })).toMatchObject({
      status: 412,
      json: { error: { code: 'PreconditionFailed' } },
    })
    expect(await ask({ 'if-match': etag, range: 'bytes=5-' })).toMatchObject({
      status: 206,
      text: '56789',
    })
  })

  test('takes no more than the store does', async () => {
    const sizeBytes = 512 * 1024 * 1024 + 1
    expect(
      await act('presign-put-object', { key: 'k', contentType: 'a/b', sizeBytes }),
    ).toMatchObject({ status: 413, json: { error: { limitBytes: 536870912 } } })
  })

  test.each(['text/html', 'image/svg+xml', 'text/javascript', 'application/xhtml+xml'])(
    'brings %s that no page of the site runs',
    async (contentType) => {
      await send(await presignPut('evil', contentType), { body: DIGITS })
      const signed = (await act('presign-get-object', { key: 'evil' })).json as Signed
      expect(await send(signed)).toMatchObject({
        status: 200,
        headers: {
          'content-type': contentType,
          'content-disposition': 'attachment',
          'content-security-policy': 'sandbox',
          'x-content-type-options': 'nosniff',
        },
      })
      for (const destination of ['script', 'serviceworker', 'worker', 'style']) {
        const headers = { 'sec-fetch-dest': destination }
        expect((await send(signed, { headers })).status, destination).toBe(403)
      }
    },
  )
})
