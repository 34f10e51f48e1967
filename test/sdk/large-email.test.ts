import { randomBytes } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { type ServerClient, createServerClient } from '#sdk/server.ts'
import { type Stack, startStack } from '#test/stack.ts'

const MIB = 1024 * 1024
const HOST = 'localhost'
const MAILBOX = `info@${HOST}`
const EMAIL = { mailbox: MAILBOX, to: 'ada@else.test', subject: 'Large' }

const resources = new AsyncDisposableStack()
let stack: Stack
let client: ServerClient
beforeAll(async () => {
  stack = resources.use(await startStack({ sites: [HOST] }))
  const token = await stack.adminToken(HOST)
  client = createServerClient({ baseUrl: stack.baseUrl(HOST), token })
  const { userSub } = await client.admin.get('/admin/api/profile')
  const body = { address: MAILBOX, owners: [userSub] }
  await client.admin.post('/admin/api/mailboxes', { body })
})
afterAll(() => resources.disposeAsync())

const detail = (messageId: string) =>
  client.admin.get('/admin/api/messages/{messageId}', { params: { messageId } })

const bytesAt = async (url: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(url)).arrayBuffer())

/** A message of exactly this many bytes. */
function wholeMessage(sizeBytes: number, newline: string): Buffer {
  const head = [
    `From: ${MAILBOX}`,
    'Date: Sat, 28 Nov 2026 10:00:00 +0000',
    `Message-ID: <${randomBytes(8).toString('hex')}@${HOST}>`,
    'Subject: Whole',
    '',
    '',
  ].join(newline)
  const line = 'x'.repeat(70) + newline
  const body = line.repeat(Math.ceil((sizeBytes - head.length) / line.length))
  return Buffer.from((head + body).slice(0, sizeBytes))
}

describe('sendEmail', () => {
  test.each([
    ['two files of 15 MiB together', [10 * MIB, 5 * MIB]],
    ['ten files of 15 MiB together', Array.from({ length: 10 }, () => 1.5 * MIB)],
    ['one file of 10 MiB', [10 * MIB]],
  ])('sends %s, byte for byte', { timeout: 60_000 }, async (_what, sizes) => {
    const files = sizes.map((size) => randomBytes(size))
    const { id } = await client.sendEmail({
      ...EMAIL,
      text: 'Here they are.',
      attachments: files.map((bytes, at) => ({
        filename: `${at}.bin`,
        contentType: 'application/x-thing',
        contentBase64: bytes.toString('base64'),
      })),
    })
    const { attachments } = await vi.waitFor(
      async () => {
        const message = await detail(id)
        expect(message.parsing).toBe('parsed')
        return message
      },
      { timeout: 40_000, interval: 200 },
    )
    expect(attachments.map(({ size }: { size: number }) => size)).toEqual(sizes)
    for (const [at, { url }] of attachments.entries()) {
      expect(files[at]?.equals(await bytesAt(url))).toBe(true)
    }
  })

  test('sends a whole message of 25 MiB, byte for byte', { timeout: 60_000 }, async () => {
    const message = wholeMessage(25 * MIB, '\r\n')
    const { id } = await client.sendEmail({ ...EMAIL, raw: message.toString('base64') })
    expect(message.equals(await bytesAt((await detail(id)).rawUrl))).toBe(true)
  })

  test('ends the lines of a whole message in CRLF', { timeout: 60_000 }, async () => {
    const message = wholeMessage(6 * MIB, '\n')
    const { id } = await client.sendEmail({ ...EMAIL, raw: message.toString('base64') })
    const sent = await bytesAt((await detail(id)).rawUrl)
    expect(sent.toString()).toBe(message.toString().replaceAll('\n', '\r\n'))
  })

  test('refuses a whole message of another author, as large as it may be', async () => {
    const raw = Buffer.from(
      wholeMessage(2 * MIB, '\r\n')
        .toString()
        .replace(MAILBOX, `eve@${HOST}`),
    ).toString('base64')
    await expect(client.sendEmail({ ...EMAIL, raw })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('rawRef'),
    })
  })
})

describe('the routes', () => {
  const stage = (body: object) =>
    client.admin.post('/admin/api/messages/attachments', {
      body: { mailbox: MAILBOX, filename: 'a', contentType: 'message/rfc822', size: 1, ...body },
    })

  test.each([
    [{ size: 25 * MIB + 1 }, 'MessageTooLarge', /26214401 bytes: at most 26214400/],
    [
      { size: 10 * MIB + 1, contentType: 'image/png' },
      'AttachmentTooLarge',
      /10485761 bytes: an attachment may have at most 10485760/,
    ],
  ])('stage nothing of %o', async (body, code, message) => {
    await expect(stage(body)).rejects.toMatchObject({
      status: 413,
      code,
      message: expect.stringMatching(message),
    })
  })

  test('hold a message that is attached to the limit of a file', async () => {
    const { attachmentRef } = await stage({ size: 10 * MIB + 1 })
    const body = { mailbox: MAILBOX, to: ['ada@else.test'], subject: 'x', body: 'x' }
    const sending = client.admin.post('/admin/api/messages/send', {
      body: { ...body, attachmentRefs: [attachmentRef] },
    })
    await expect(sending).rejects.toMatchObject({ status: 413, code: 'AttachmentTooLarge' })
  })

  test.each([
    [{ raw: btoa('x'), rawRef: 'stg_x' }, 'raw'],
    [{ rawRef: 'stg_x', attachmentRefs: ['stg_y'] }, 'raw'],
    [{ rawRef: 'stg_none' }, 'stg_none'],
  ])('refuse %o', async (more, words) => {
    const body = { mailbox: MAILBOX, to: ['ada@else.test'], subject: 'x', ...more }
    await expect(client.admin.post('/admin/api/messages/send', { body })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(words),
    })
  })

  test('take a reply in HTML alone, and none without a word', async () => {
    const { id } = await client.sendEmail({ ...EMAIL, text: 'Hello' })
    const reply = (body: object) =>
      client.admin.post('/admin/api/messages/{messageId}/reply', {
        params: { messageId: id },
        body,
      })
    const answer = await reply({ html: '<p>Only this</p>' })
    const raw = (await bytesAt((await detail(answer.id)).rawUrl)).toString()
    expect(raw).toContain('<p>Only this</p>')
    expect(raw).not.toContain('text/plain')
    await expect(reply({ subject: 'Nothing' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('"body", "html" or both'),
    })
  })
})
