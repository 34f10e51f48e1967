import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CroftProcess } from '#test/croft-process.ts'
import { portalOf } from '#test/operator.ts'

const HOST = 'files.test'
const SIZE = 3 * 1024 * 1024 + 7
const VERSIONS = [7, 11, 13].map((mark) => Buffer.alloc(SIZE, Buffer.from([mark, 1, 2, mark, 3])))
const [FIRST = Buffer.alloc(0)] = VERSIONS
/** Answers with the text that is asked for: its letters, as often as is said. */
const REPEAT = 'export default ({ payload: { text, times } }) => text.repeat(times)'

describe.each(['bun', 'node'] as const)('a large download on %s', (on) => {
  const cleanUp = new AsyncDisposableStack()
  let croft: CroftProcess
  let act: (
    action: string,
    input: object,
  ) => Promise<{ readonly url: string; readonly headers: Record<string, string> }>
  let path: string
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'croft-downloads-'))
    cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
    croft = cleanUp.use(await CroftProcess.start({ dataDir: join(folder, 'data'), on }))
    await portalOf(croft).createSite(HOST)
    const admin = await portalOf(croft).admin(HOST)
    const made = await admin('POST', '/admin/data/resources', { type: 's3Bucket', name: 'files' })
    act = async (action, input) =>
      (
        await admin(
          'POST',
          `/admin/data/resources/${made.json.resourceId}/data/s3/${action}`,
          input,
        )
      ).json
    await upload(FIRST)
    path = pathOf((await act('presign-get-object', { key: 'large' })).url)
    await portalOf(croft).createOperation(HOST, 'repeat', REPEAT)
    await croft.until('repeat answers', async () => (await repeat('a', 1)).status === 200)
  })
  afterAll(() => cleanUp.disposeAsync())

  const pathOf = (url: string) => url.slice(new URL(url).origin.length)
  async function upload(body: Buffer): Promise<void> {
    const type = { contentType: 'application/octet-stream' }
    const input = { key: 'large', sizeBytes: body.length, ...type }
    const { url, headers } = await act('presign-put-object', input)
    const put = { host: HOST, method: 'PUT', path: pathOf(url), headers, body } as const
    expect((await croft.call(put)).status).toBe(200)
  }
  const repeat = (text: string, times: number) => {
    const headers = { 'content-type': 'application/json' }
    const call = { host: HOST, method: 'POST', path: '/data/public/repeat', headers } as const
    return croft.call({ ...call, body: { payload: { text, times } } })
  }
  const get = (headers: Record<string, string> = {}, method = 'GET') =>
    croft.call({ host: HOST, method, path, headers })

  test('tells its length', async () => {
    const answer = await get({ 'accept-encoding': 'gzip, br' })
    expect(answer).toMatchObject({ status: 200, headers: { 'content-length': String(SIZE) } })
    expect(answer.headers).not.toHaveProperty('transfer-encoding')
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(answer.bytes.equals(FIRST)).toBe(true)
  })

  test('tells the length of a range', async () => {
    const answer = await get({ range: `bytes=5-${SIZE - 3}` })
    expect(answer).toMatchObject({
      status: 206,
      headers: {
        'content-length': String(SIZE - 7),
        'content-range': `bytes 5-${SIZE - 3}/${SIZE}`,
      },
    })
    expect(answer.bytes.equals(FIRST.subarray(5, SIZE - 2))).toBe(true)
  })

  test('tells its length to HEAD', async () => {
    const answer = await get({}, 'HEAD')
    expect(answer).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': String(SIZE) },
    })
  })

  test('is one version of the object, however often that is replaced', async () => {
    let replaced = false
    const replacing = (async () => {
      for (let n = 0; n < 8; n++) await upload(VERSIONS[n % 3] ?? FIRST)
      replaced = true
    })()
    while (!replaced) {
      const { status, bytes } = await get()
      if (status === 503) continue
      expect(VERSIONS.some((version) => version.equals(bytes))).toBe(true)
    }
    await replacing
  })

  test.each([
    ['20 KB', 'abcd', 5_000],
    ['a megabyte of letters beyond ASCII', 'ü€😀', 110_000],
  ])('an answer of %s is whole, whatever the HTTP of the client', async (_size, text, times) => {
    const expected = text.repeat(times)
    const answer = await repeat(text, times)
    expect(answer.status).toBe(200)
    expect(answer.json.data === expected).toBe(true)
    const [head = '', old = ''] = await overOldHttp(
      croft.port,
      JSON.stringify({ payload: { text, times } }),
    )
    expect(head).toMatch(/^HTTP\/1\.[01] 200 /)
    expect(head).not.toMatch(/transfer-encoding/i)
    expect(JSON.parse(old).data === expected).toBe(true)
  })
})

/** Head and body of the answer to a call over HTTP/1.0, which knows no chunks: the connection ends it. */
async function overOldHttp(port: number, body: string): Promise<string[]> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const head = [
    'POST /data/public/repeat HTTP/1.0',
    `host: ${HOST}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  return (await buffer(socket)).toString().split('\r\n\r\n')
}
