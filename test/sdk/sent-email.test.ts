import { randomBytes } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { type ServerClient, createServerClient } from '#sdk/server.ts'
import { type Stack, startStack } from '#test/stack.ts'

const MIB = 1024 * 1024
const HOST = 'localhost'
const EMAIL = { mailbox: `info@${HOST}`, to: 'Ada <ada@else.test>', subject: 'Hi' }

const resources = new AsyncDisposableStack()
let stack: Stack
let client: ServerClient
beforeAll(async () => {
  stack = resources.use(await startStack({ sites: [HOST] }))
  const token = await stack.adminToken(HOST)
  client = createServerClient({ baseUrl: stack.baseUrl(HOST), token })
  const { userSub } = await client.admin.get('/admin/api/profile')
  const body = { address: EMAIL.mailbox, owners: [userSub] }
  await client.admin.post('/admin/api/mailboxes', { body })
})
afterAll(() => resources.disposeAsync())

const parsed = (messageId: string) =>
  vi.waitFor(
    async () => {
      const message = await client.admin.get('/admin/api/messages/{messageId}', {
        params: { messageId },
      })
      expect(message.parsing).toBe('parsed')
      return message
    },
    { timeout: 20_000 },
  )

const file = (sizeBytes: number) => ({
  filename: 'a.bin',
  contentType: 'application/x-thing',
  contentBase64: randomBytes(sizeBytes).toString('base64'),
})

describe('sendEmail to a service', () => {
  test.each([
    [100_000, 1],
    [10 * MIB, 5 * MIB],
  ])('sends files of %d and %d bytes', async (...sizes) => {
    const attachments = sizes.map(file)
    const { id } = await client.sendEmail({ ...EMAIL, text: 'Hello', attachments })
    expect(await parsed(id)).toMatchObject({
      folder: 'SENT',
      text: expect.stringContaining('Hello'),
      attachments: sizes.map((size) => ({ size })),
      deliveries: [{ recipient: 'ada@else.test' }],
    })
  })

  test('sends once under one key', async () => {
    const options = { idempotencyKey: 'one' }
    const email = { ...EMAIL, html: '<b>Hello</b>' }
    const first = await client.sendEmail(email, options)
    expect(await client.sendEmail(email, options)).toEqual(first)
  })

  test('sends what was composed elsewhere', async () => {
    const raw = btoa(`From: ${EMAIL.mailbox}\r\nSubject: Own\r\n\r\nText`)
    const { id } = await client.sendEmail({ ...EMAIL, raw })
    expect(await parsed(id)).toMatchObject({
      subject: 'Own',
      text: expect.stringContaining('Text'),
    })
  })

  test('is refused for a mailbox that is none', async () => {
    const sending = client.sendEmail({ ...EMAIL, mailbox: 'no@localhost', text: 'x' })
    await expect(sending).rejects.toMatchObject({ code: 'MailboxNotFound', status: 404 })
  })
})
