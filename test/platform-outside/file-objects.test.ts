import { existsSync } from 'node:fs'
import { open, readFile, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Call, request } from '#test/http-client.ts'
import { type OpenFileStore, openFileStore } from '#test/object-stores.ts'
import { Script } from '#test/runtimes.ts'

const WRITER = new URL('fixtures/object-writer.ts', import.meta.url)

let opened: OpenFileStore
beforeAll(async () => {
  opened = await openFileStore()
})
afterAll(() => opened[Symbol.asyncDispose]())

describe('the filesystem store', () => {
  test('keeps keys apart that a filesystem would not', async () => {
    const keys = [
      'sites/one/a',
      'sites/one/A',
      'sites/one/a/',
      'sites/one/a/b',
      'sites/one/a//b',
      'sites/one/../two/x',
      'sites/one/./a',
      'sites/one/CON',
      'sites/one/a.o',
      `sites/one/${'long'.repeat(240)}`,
      `sites/one/${'/'.repeat(1000)}`,
      `sites/one/${'ü'.repeat(500)}`,
    ]
    for (const key of keys) await opened.store.put(key, Buffer.from(key))
    const listed = await opened.store.list({ prefix: 'sites/one/', maxKeys: 100 })
    expect(listed.objects.map(({ key }) => key).toSorted()).toEqual(keys.toSorted())
    for (const key of keys) {
      const found = await opened.store.get(key)
      expect(await new Response(found?.body).text()).toBe(key)
      await opened.store.delete(key)
    }
    expect((await readdir(join(opened.dir, 'objects'))).length).toBe(0)
  })

  test('lets one of many put at once win, whole', async () => {
    const bodies = Array.from({ length: 20 }, (_, n) => Buffer.alloc(50_000, n))
    await Promise.all(bodies.map((body) => opened.store.put('sites/one/race', body)))
    const found = await opened.store.get('sites/one/race')
    const bytes = Buffer.from(await new Response(found?.body).arrayBuffer())
    expect(bodies.some((body) => body.equals(bytes))).toBe(true)
  })

  test('lets exactly one of many create', async () => {
    const tries = Array.from({ length: 20 }, () =>
      opened.store.put('sites/one/create/deep/x', Buffer.from('x'), { ifNoneMatch: '*' }),
    )
    const settled = await Promise.allSettled(tries)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('survives that a folder is emptied while it is filled', async () => {
    const work = Array.from({ length: 60 }, async (_, n) => {
      const key = `sites/one/churn/folder-${n % 3}/${n}`
      await opened.store.put(key, Buffer.from('x'))
      if (n % 2 === 0) await opened.store.delete(key)
    })
    await Promise.all(work)
    const { objects } = await opened.store.list({ prefix: 'sites/one/churn/', maxKeys: 100 })
    expect(objects).toHaveLength(30)
  })

  test('goes on reading an object that is replaced or deleted during it', async () => {
    await opened.store.put('sites/one/held', Buffer.alloc(1_000_000, 1))
    const held = await opened.store.get('sites/one/held')
    await opened.store.put('sites/one/held', Buffer.from('new'))
    await opened.store.delete('sites/one/held')
    const bytes = new Uint8Array(await new Response(held?.body).arrayBuffer())
    expect(bytes).toHaveLength(1_000_000)
    expect(new Set(bytes)).toEqual(new Set([1]))
  })

  test('clears what a crash left half written, and nothing that is being written', async () => {
    const incoming = join(opened.dir, 'incoming')
    await writeFile(join(incoming, 'abandoned'), 'half')
    await utimes(join(incoming, 'abandoned'), 0, 0)
    await writeFile(join(incoming, 'busy'), 'half')
    await opened.store.open()
    expect(await readdir(incoming)).toEqual(['busy'])
  })

  test.skipIf(!existsSync('/dev/full'))('says that the disk is full', async () => {
    const failing = new ReadableStream<Uint8Array>({
      async pull() {
        await using file = await open('/dev/full', 'w')
        await file.write('x')
      },
    })
    const incoming = join(opened.dir, 'incoming')
    const before = await readdir(incoming)
    const put = opened.store.put('sites/one/full', failing)
    await expect(put).rejects.toMatchObject({
      code: 'DiskFull',
      message: 'The object store has no room left: its disk is full',
      cause: { code: 'ENOSPC' },
    })
    expect(await readdir(incoming)).toEqual(before)
    expect(await opened.store.head('sites/one/full')).toBeUndefined()
  })

  test.each(['bun', 'node'] as const)(
    'keeps what it promised, and nothing by halves, when it is killed on %s',
    async (runtime) => {
      const promised = new Set<string>()
      {
        await using writer = new Script(runtime, WRITER, [opened.dir])
        while (promised.size < 60) promised.add(await writer.next())
      }
      const prefix = 'sites/one/crash/'
      const { objects } = await opened.store.list({ prefix, maxKeys: 1000 })
      const kept = objects.map(({ key }) => key.slice(prefix.length))
      expect(kept).toEqual(expect.arrayContaining([...promised]))
      for (const name of kept) {
        const found = await opened.store.get(prefix + name)
        const bytes = Buffer.from(await new Response(found?.body).arrayBuffer())
        expect(bytes.equals(Buffer.alloc(200_000, name))).toBe(true)
        await opened.store.delete(prefix + name)
      }
    },
  )

  test('names a damaged file instead of serving it', async () => {
    await opened.store.put('sites/one/damaged/x', Buffer.from('x'))
    const folder = join(opened.dir, 'objects')
    const [path] = (await readdir(folder, { recursive: true })).filter((name) =>
      name.startsWith(
        `${Buffer.from('sites/one/').toString('hex')}.d/${Buffer.from('damaged/').toString('hex')}.d/`,
      ),
    )
    const file = join(folder, path ?? '')
    await writeFile(file, (await readFile(file)).subarray(0, 20))
    await expect(opened.store.get('sites/one/damaged/x')).rejects.toThrow('damaged')
    await opened.store.delete('sites/one/damaged/x')
  })

  test('lists ten thousand objects a page at a time', { timeout: 120_000 }, async () => {
    for (let first = 0; first < 10_000; first += 100) {
      const some = Array.from({ length: 100 }, (_, n) =>
        opened.store.put(`sites/two/many/${String(first + n).padStart(5, '0')}`, Buffer.from('x')),
      )
      await Promise.all(some)
    }
    const startedAt = performance.now()
    let [seen, previous] = [0, '']
    let continuation: string | undefined
    do {
      const page = await opened.store.list({
        prefix: 'sites/two/many/',
        maxKeys: 1000,
        ...(continuation ? { continuation } : {}),
      })
      for (const { key } of page.objects) {
        expect(key > previous).toBe(true)
        previous = key
        seen++
      }
      continuation = page.continuation
    } while (continuation)
    expect(seen).toBe(10_000)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })
})

describe('a signed URL of the filesystem store', () => {
  const call = async (change: Partial<Call> & { readonly type?: string } = {}) => {
    const key = `sites/one/served.${change.type ?? 'text/plain'}`
    await opened.store.put(key, Buffer.from('0123456789'), {
      contentType: change.type ?? 'text/plain',
    })
    const { url } = await opened.store.presignGet(key, { expiresInSeconds: 60 })
    const { pathname, search, host } = new URL(url)
    return request({ port: opened.port, host, path: pathname + search, ...change })
  }

  test('serves a page nowhere but in a sandbox, and never inline as HTML', async () => {
    for (const type of ['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/xml']) {
      expect((await call({ type })).headers).toMatchObject({
        'content-type': type,
        'content-disposition': 'attachment',
        'content-security-policy': 'sandbox',
        'x-content-type-options': 'nosniff',
      })
    }
    expect((await call({ type: 'image/png' })).headers['content-disposition']).toBeUndefined()
  })

  test('answers HEAD, ranges and a known etag', async () => {
    expect(await call({ method: 'HEAD' })).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '10', 'accept-ranges': 'bytes' },
    })
    expect(await call({ headers: { range: 'bytes=2-4' } })).toMatchObject({
      status: 206,
      text: '234',
      headers: { 'content-range': 'bytes 2-4/10', 'content-length': '3' },
    })
    expect(await call({ headers: { range: 'bytes=10-' } })).toMatchObject({
      status: 416,
      headers: { 'content-range': 'bytes */10' },
    })
    const etag = (await call()).headers['etag'] ?? ''
    expect(await call({ headers: { 'if-none-match': etag } })).toMatchObject({
      status: 304,
      text: '',
    })
    const changed = await call({ headers: { range: 'bytes=2-4', 'if-range': '"other"' } })
    expect(changed.status).toBe(200)
  })

  test('opens to pages of every origin, without credentials', async () => {
    const preflight = await call({ method: 'OPTIONS', headers: { origin: 'https://else.test' } })
    expect(preflight).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD, PUT',
      },
    })
    const answer = await call({ headers: { origin: 'https://else.test' } })
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
  })

  test.each([
    ['on the host of another site', { host: 'two.test' }, 403, 'Forbidden'],
    ['on a host of no site', { host: 'none.test' }, 404, 'SiteNotFound'],
    ['for PUT', { method: 'PUT', body: 'x' }, 403, 'Forbidden'],
    ['without its query', { path: '/objects/c2l0ZXMvb25lL3g' }, 403, 'Forbidden'],
  ] as const)('is refused %s', async (_what, change, status, code) => {
    expect(await call(change)).toMatchObject({ status, json: { error: { code } } })
  })

  test('refuses an upload without a length, or cut short, and stores nothing', async () => {
    const key = 'sites/one/upload'
    const { url, headers } = await opened.store.presignPut(key, {
      expiresInSeconds: 60,
      contentType: 'text/plain',
      sizeBytes: 5,
    })
    const { pathname, search, host } = new URL(url)
    const body = (async function* () {
      yield 'hello'
    })()
    const chunked = await request({
      port: opened.port,
      host,
      method: 'PUT',
      path: pathname + search,
      headers,
      body,
    })
    expect(chunked.status).toBe(411)
    const cut = request({
      port: opened.port,
      host,
      method: 'PUT',
      path: pathname + search,
      headers: { ...headers, 'content-length': '5' },
      body: (async function* () {
        yield 'hel'
        await new Promise((resolve) => setImmediate(resolve))
        throw new Error('client gone')
      })(),
      signal: AbortSignal.timeout(300),
    })
    await expect(cut).rejects.toThrow(/aborted|gone/)
    expect(await opened.store.head(key)).toBeUndefined()
  })
})
