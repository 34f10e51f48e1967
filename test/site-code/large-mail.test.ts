import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { makeMailboxes } from '#test/inbound-mail.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const MIB = 1024 * 1024
const HOSTS = ['one.test', 'two.test']

/** Makes files of those sizes of its own, because they fit into no payload, and sends them. */
const CODE = `
const base64 = (bytes, seed) => {
  const block = new Uint8Array(3 * 65536)
  for (let at = 0; at < block.length; at++) block[at] = (at * 31 + seed * 17 + (at >> 8)) & 255
  const text = btoa(String.fromCharCode(...block.subarray(0, 49152))) +
    btoa(String.fromCharCode(...block.subarray(49152, 98304))) +
    btoa(String.fromCharCode(...block.subarray(98304, 147456))) +
    btoa(String.fromCharCode(...block.subarray(147456)))
  return text.repeat(Math.ceil(bytes / block.length)).slice(0, Math.floor(bytes / 3) * 4)
}
const whole = ({ mailbox, bytes }) => {
  const head = 'From: ' + mailbox + '\\r\\nDate: Sat, 28 Nov 2026 10:00:00 +0000\\r\\nMessage-ID: <' +
    bytes + '@own>\\r\\nSubject: Whole\\r\\n\\r\\n'
  const lines = btoa(head.padEnd(Math.ceil(head.length / 3) * 3, 'x'))
  const line = btoa('x'.repeat(61) + '\\r\\n')
  const left = Math.floor((bytes - head.length - 3) / 63)
  return lines + line.repeat(left)
}
export default async ({ payload: { sizes, raw, ...message } }, { sendEmail }) => {
  try {
    return await sendEmail({ ...message,
      ...(raw && { raw: whole({ mailbox: message.mailbox, bytes: raw }) }),
      ...(sizes && { attachments: sizes.map((bytes, at) => ({ filename: at + '.bin',
        contentType: 'application/x-thing', contentBase64: base64(bytes, at) })) }) })
  } catch ({ code, message, statusCode }) {
    return { code, message, statusCode }
  }
}`

/** What the function makes of a size. */
function fileOf(bytes: number, seed: number): Buffer {
  const block = Buffer.alloc(3 * 65536)
  for (let at = 0; at < block.length; at++) block[at] = (at * 31 + seed * 17 + (at >> 8)) & 255
  return Buffer.alloc(Math.floor(bytes / 3) * 3, block)
}

let stack: Stack
const sites = new Map<string, RuntimeSite>()
beforeAll(async () => {
  stack = await startStack({ sandbox: 'started' })
  for (const host of HOSTS) {
    await makeMailboxes(stack, host, ['info'])
    const site = await RuntimeSite.open(stack, host)
    sites.set(host, site)
    const config = { memoryMb: 512, timeoutSeconds: 60 }
    const lambdaResourceId = await site.putFunction('send', CODE, config)
    await site.putOperation('send', { lambdaResourceId, auth: { mode: 'public' } })
    await site.synced()
  }
}, 60_000)
afterAll(() => stack[Symbol.asyncDispose]())

const send = async (host: string, payload: object) => {
  const base = { mailbox: `info@${host}`, to: 'ada@else.test', subject: 'Large' }
  const answer = await sites.get(host)?.call('send', { ...base, ...payload })
  return answer?.json.data ?? answer?.json
}
const detail = async (host: string, id: string) => {
  const token = await stack.adminToken(host)
  return (await stack.call(host, 'GET', `/admin/api/messages/${id}`, { token })).json
}
const bytesAt = async (url: string): Promise<Buffer> => {
  const { hostname, pathname, search } = new URL(url)
  return (await stack.call(hostname, 'GET', pathname + search)).bytes
}
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const stagedRows = (host: string) =>
  stack.inSite(host, (tx, { siteId }) =>
    tx.db
      .selectFrom('mail_staged_attachment')
      .select('attachment_ref')
      .where('site_id', '=', siteId)
      .execute(),
  )

describe.each(HOSTS)('ctx.sendEmail of %s', { timeout: 90_000 }, (host) => {
  test.each([
    ['10 and 5 MiB', [10 * MIB - 1, 5 * MIB - 1]],
    ['ten files of 1.5 MiB', Array.from({ length: 10 }, () => 1.5 * MIB)],
  ])('sends files of %s, byte for byte', async (_what, sizes) => {
    const { id } = await send(host, { text: 'Here.', sizes })
    expect(id).toMatch(/^msg_/)
    const { attachments } = await vi.waitFor(
      async () => {
        const message = await detail(host, id)
        expect(message.parsing).toBe('parsed')
        return message
      },
      { timeout: 60_000, interval: 200 },
    )
    expect(attachments).toHaveLength(sizes.length)
    for (const [at, { url }] of attachments.entries()) {
      expect(sha256(await bytesAt(url))).toBe(sha256(fileOf(sizes[at] ?? 0, at)))
    }
    expect(await stagedRows(host)).toEqual([])
  })

  test('sends a whole message of nearly 25 MiB, byte for byte', async () => {
    const { id } = await send(host, { raw: 25 * MIB - 100 })
    const sent = await bytesAt((await detail(host, id)).rawUrl)
    expect(sent.length).toBeGreaterThan(25 * MIB - 300)
    const text = sent.toString('latin1')
    expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toMatch(/^x{0,2}x/)
    expect(text.slice(-63 * 1000)).toBe(`${'x'.repeat(61)}\r\n`.repeat(1000))
    expect(await stagedRows(host)).toEqual([])
  })

  test('sends once under a key, and nothing else under it', async () => {
    const message = { text: 'Once.', sizes: [2 * MIB], idempotencyKey: 'large' }
    const first = await send(host, message)
    expect(first.id).toMatch(/^msg_/)
    expect(await send(host, message)).toEqual(first)
    expect(await send(host, { ...message, sizes: [2 * MIB + 3] })).toMatchObject({
      code: 'IdempotencyKeyReused',
    })
    expect(await stagedRows(host)).toEqual([])
  })

  test.each([
    [{ sizes: [10 * MIB + 3] }, 'AttachmentTooLarge', /1048576\d bytes: .* 10485760/],
    [
      { sizes: [8 * MIB, 8 * MIB] },
      'AttachmentsTooLarge',
      /1677721\d bytes together: at most 15728640/,
    ],
    [{ raw: 26 * MIB }, 'MessageTooLarge', /272\d{5} bytes: at most 26214400/],
  ])('refuses %o with 413, limit and size, and keeps nothing', async (more, code, message) => {
    expect(await send(host, { text: 'x', ...more })).toEqual({
      code,
      statusCode: 413,
      message: expect.stringMatching(message),
    })
    expect(await stagedRows(host)).toEqual([])
  })

  test('refuses a mailbox of another site, and large files without one', async () => {
    const other = HOSTS.find((name) => name !== host)
    expect(await send(host, { mailbox: `info@${other}`, text: 'x', sizes: [MIB] })).toMatchObject({
      code: 'MailboxNotFound',
    })
    expect(await send(host, { mailbox: undefined, text: 'x', sizes: [MIB] })).toMatchObject({
      statusCode: 400,
      message: expect.stringContaining('mailbox'),
    })
  })
})
