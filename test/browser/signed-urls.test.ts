import { randomBytes } from 'node:crypto'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { chromiumMissing, launchChromium, openTab } from '#test/browser.ts'
import { type ClientApp, startClientApp } from '#test/client-app.ts'
import { type OpenS3Store, openS3Store } from '#test/object-stores.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

interface Signed {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
}

/** What a page's script reads of a response: `blocked` where the browser shows it none. */
interface Seen {
  readonly status: number
  readonly text: string
}

const BLOCKED = { status: 0, text: 'TypeError' }
const CONSOLE = 'console.two.test'
const missing = chromiumMissing()

/** Sends a request as the documentation shows it, from the page, with `size` equal bytes or none. */
const send = (page: Page, { url, method, headers }: Signed, size?: number): Promise<Seen> =>
  page.evaluate(
    `fetch(${JSON.stringify(url)}, ${JSON.stringify({ method, headers }).slice(0, -1)}${
      size === undefined ? '' : `, body: new Uint8Array(${size}).fill(120)`
    }}).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      ({ name }) => ({ status: 0, text: name }))`,
  )

/** A page of this origin: one that the service itself sends, so that it may ask this machine for more. */
async function openPage(chromium: Browser, origin: string) {
  const tab = await openTab(chromium)
  await tab.page.goto(`${origin}/admin/public/config`)
  return tab
}

const why = missing ? ` (${missing})` : ''
describe.skipIf(missing).each(['files', 'S3'])(
  `pages in Chromium, with objects in %s${why}`,
  (kind) => {
    const started = new AsyncDisposableStack()
    let stack: Stack
    let s3: OpenS3Store | undefined
    let chromium: Browser
    let stranger: ClientApp
    beforeAll(async () => {
      s3 = kind === 'S3' ? started.use(await openS3Store()) : undefined
      const { store } = s3 ?? {}
      stack = started.use(
        await startStack({ platform: store ? { openObjects: async () => store } : {} }),
      )
      stranger = started.use(await startClientApp())
      for (const host of ['one.test', 'two.test']) {
        const token = await stack.adminToken(host)
        const owners = [(await users(host))[0]]
        const body = { address: `info@${host}`, owners }
        const made = await stack.call(host, 'POST', '/admin/api/mailboxes', { token, body })
        if (made.status !== 200) throw new Error(made.text)
      }
      chromium = await launchChromium()
    }, 60_000)
    afterAll(async () => {
      await chromium.close()
      await started.disposeAsync()
    })

    const users = async (host: string): Promise<string[]> => {
      const token = await stack.adminToken(host)
      const { json } = await stack.call(host, 'GET', '/admin/api/users', { token })
      return json.items.map(({ userId }: { userId: string }) => userId)
    }
    const adminHost = (host: string) => (host === 'two.test' ? CONSOLE : host)

    /** A client of the admin API inside of a page, as a console has it. */
    const api = async (page: Page, host: string) => {
      const token = await stack.adminToken(host)
      return async (method: string, path: string, body?: object) => {
        const seen = await page.evaluate(
          `fetch('/admin/api${path}', ${JSON.stringify({
            method,
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            ...(body && { body: JSON.stringify(body) }),
          })}).then(async (response) => ({ status: response.status, text: await response.text() }))`,
        )
        return seen as Seen
      }
    }

    describe.each([
      ['one.test', 'two.test'],
      ['two.test', 'one.test'],
    ])('on the admin origin of %s', (host, other) => {
      beforeAll(() => stack.portal('PATCH', '/sites/two.test', { adminDomain: CONSOLE }))
      afterAll(() => stack.portal('PATCH', '/sites/two.test', { adminDomain: null }))
      const staged = { filename: 'x.bin', contentType: 'application/x-thing', size: 3_000_000 }

      test('stage a file, send it, and read it and the whole message where it arrived', async () => {
        await using tab = await openPage(chromium, stack.baseUrl(adminHost(host)))
        const call = await api(tab.page, host)
        const body = { mailbox: `info@${host}`, ...staged }
        const { attachmentRef, upload } = JSON.parse(
          (await call('POST', '/messages/attachments', body)).text,
        )
        expect(upload.headers).toEqual({ 'Content-Type': 'application/x-thing' })
        expect(await send(tab.page, upload, 3_000_000)).toEqual({ status: 200, text: '' })
        const subject = `A file ${randomBytes(4).toString('hex')}`
        const sent = await call('POST', '/messages/send', {
          mailbox: `info@${host}`,
          to: [`info@${host}`],
          subject,
          body: 'Here.',
          attachmentRefs: [attachmentRef],
        })
        expect(sent.status).toBe(200)
        const detail = await vi.waitFor(
          async () => {
            const { text } = await call('GET', `/messages/${JSON.parse(sent.text).id}`)
            const found = JSON.parse(text)
            expect(found.attachments).toHaveLength(1)
            return found
          },
          { timeout: 20_000, interval: 50 },
        )
        const get = { method: 'GET', headers: {} }
        const file = await send(tab.page, { ...get, url: detail.attachments[0].url })
        expect([file.status, file.text === 'x'.repeat(3_000_000)]).toEqual([200, true])
        const raw = await send(tab.page, { ...get, url: detail.rawUrl })
        expect([raw.status, raw.text.includes(subject)]).toEqual([200, true])
        expect(tab.complaints).toEqual([])
      })

      test.each<[string, (upload: Signed) => Signed, number, number, string]>([
        [
          'another type',
          (upload) => ({ ...upload, headers: { 'Content-Type': 'text/html' } }),
          3_000_000,
          403,
          'Forbidden',
        ],
        ['a byte more', (upload) => upload, 3_000_001, 413, 'PayloadTooLarge'],
        ['a byte less', (upload) => upload, 2_999_999, 400, 'ValidationError'],
        [
          'another signature',
          (upload) => ({ ...upload, url: `${upload.url}x` }),
          3_000_000,
          403,
          'Forbidden',
        ],
        [
          'another method',
          (upload) => ({ ...upload, method: 'GET', headers: {} }),
          0,
          403,
          'Forbidden',
        ],
      ])('read why %s is refused', async (_what, change, size, status, code) => {
        await using tab = await openPage(chromium, stack.baseUrl(adminHost(host)))
        const call = await api(tab.page, host)
        const body = { mailbox: `info@${host}`, ...staged }
        const { upload } = JSON.parse((await call('POST', '/messages/attachments', body)).text)
        const seen = await send(tab.page, change(upload), size === 0 ? undefined : size)
        expect(seen.status).toBe(status)
        expect(JSON.parse(seen.text)).toMatchObject({ error: { code } })
      })

      test('read that a URL belongs to another site', async () => {
        await using tab = await openPage(chromium, stack.baseUrl(adminHost(host)))
        const call = await api(tab.page, host)
        const body = { mailbox: `info@${host}`, ...staged }
        const { upload } = JSON.parse((await call('POST', '/messages/attachments', body)).text)
        const url = upload.url.replace(`//${host}`, `//${other}`)
        const seen = await send(tab.page, { ...upload, url }, 3_000_000)
        expect(seen).toMatchObject({ status: 403, text: expect.stringContaining('another host') })
      })

      test('receive news of a mailbox on a stream', async () => {
        await using tab = await openPage(chromium, stack.baseUrl(adminHost(host)))
        const call = await api(tab.page, host)
        const token = await stack.adminToken(host)
        await tab.page.evaluate(`(async () => {
        window.heard = ''
        const response = await fetch('/admin/api/messages/stream', {
          headers: { authorization: 'Bearer ${token}', accept: 'text/event-stream' } })
        window.heard = '[' + response.status + ']'
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
        void (async () => { for (;;) window.heard += (await reader.read()).value })()
      })()`)
        const letter = {
          mailbox: `info@${host}`,
          to: [`info@${other}`],
          subject: 'News',
          body: '.',
        }
        expect((await call('POST', '/messages/send', letter)).status).toBe(200)
        await tab.page.waitForFunction(
          `window.heard.includes('event: change') && window.heard.includes('info@${host}')`,
        )
        expect(await tab.page.evaluate('window.heard')).toMatch(/^\[200\]/)
      })
    })

    describe.each(['one.test', 'two.test'])('on the visitors’ origin of %s', (host) => {
      let site: RuntimeSite
      let bucket: string
      const sign = async (action: string, body: object): Promise<Signed> =>
        (await site.admin('POST', `/resources/${bucket}/data/s3/${action}`, body)).json
      beforeAll(async () => {
        site = await RuntimeSite.open(stack, host)
        const made = await site.admin('POST', '/resources', { type: 's3Bucket', name: 'files' })
        bucket = made.json.resourceId
        for (const action of ['put', 'get']) {
          const preset = { preset: `s3.presign-${action}-object`, resourceId: bucket }
          const allowed = action === 'put' ? { allowed: ['key', 'contentType', 'sizeBytes'] } : {}
          await site.putOperation(`sign-${action}`, {
            preset: { ...preset, ...allowed },
            auth: { mode: 'public' },
          })
        }
        await site.synced()
        await s3?.allowOrigins(stack.baseUrl('one.test'), stack.baseUrl('two.test'))
      })

      test('put and get by what a public operation signs', async () => {
        await using tab = await openPage(chromium, stack.baseUrl(host))
        const operation = async (name: string, payload: object): Promise<Signed> => {
          const answer = await tab.page.evaluate(
            `fetch('/data/public/${name}', { method: 'POST', headers: { 'content-type': 'application/json' },
            body: ${JSON.stringify(JSON.stringify({ payload }))} }).then((response) => response.json())`,
          )
          return (answer as { data: Signed }).data
        }
        for (const asked of [
          { contentType: 'image/png', sizeBytes: 2_000_000 },
          { contentType: 'image/png' },
          { sizeBytes: 2_000_000 },
          {},
        ]) {
          const put = await operation('sign-put', { key: 'a.png', ...asked })
          expect(put.headers).toEqual('contentType' in asked ? { 'Content-Type': 'image/png' } : {})
          expect(await send(tab.page, put, 2_000_000)).toMatchObject({ status: 200 })
          const got = await send(tab.page, await operation('sign-get', { key: 'a.png' }))
          expect([got.status, got.text === 'x'.repeat(2_000_000)]).toEqual([200, true])
        }
        expect(tab.complaints).toEqual([])
      })

      test('get a part of an object', async () => {
        await using tab = await openPage(chromium, stack.baseUrl(host))
        await sign('put-object', { key: 'part', body: '0123456789' })
        const signed = await sign('presign-get-object', { key: 'part' })
        const part = await send(tab.page, { ...signed, headers: { range: 'bytes=2-4' } })
        expect(part).toEqual({ status: 206, text: '234' })
      })

      test('read that another length is refused', async () => {
        await using tab = await openPage(chromium, stack.baseUrl(host))
        const signed = await sign('presign-put-object', {
          key: 'exact',
          contentType: 'image/png',
          sizeBytes: 10,
        })
        for (const [size, status] of [
          [9, kind === 'S3' ? 403 : 400],
          [11, kind === 'S3' ? 403 : 413],
        ] as const) {
          expect(await send(tab.page, signed, size)).toMatchObject({ status })
        }
        const none = await send(tab.page, await sign('presign-get-object', { key: 'exact' }))
        expect(none.status).toBe(404)
      })

      test('of another origin: the service opens to it, a bucket where its CORS does', async () => {
        await using tab = await openTab(chromium)
        await tab.page.goto(stranger.origin)
        const exact = await sign('presign-put-object', { key: 'far', sizeBytes: 10 })
        const open = await sign('presign-put-object', { key: 'far' })
        const ok = { status: 200, text: '' }
        expect(await send(tab.page, open, 10)).toEqual(ok)
        expect(await send(tab.page, exact, 10)).toMatchObject(kind === 'S3' ? BLOCKED : ok)
      })
    })
  },
)
