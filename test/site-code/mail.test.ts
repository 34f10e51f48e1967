import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { CapturedMessage } from '#platform/smtp/outbox.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { makeMailboxes } from '#test/inbound-mail.ts'
import { allMailTo, mailTo } from '#test/outbox.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const SENDER = `
export default async ({ payload }, { sendEmail }) => {
  try {
    return await sendEmail(payload)
  } catch ({ code, statusCode, message, retryAfterSeconds, limit }) {
    return { caught: { code, statusCode, message, retryAfterSeconds, limit } }
  }
}`

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
  for (const host of ['one.test', 'two.test']) {
    await (await RuntimeSite.open(stack, host)).publish('send', SENDER)
  }
})
afterAll(() => stack[Symbol.asyncDispose]())

async function send(message: unknown, host = 'one.test') {
  const site = await RuntimeSite.open(stack, host)
  const answer = await site.call('send', message)
  expect(answer.status, answer.text).toBe(200)
  return answer.json.data
}

const PATIENCE = { timeout: 20_000, interval: 50 }
const MESSAGE = { to: 'vic@example.org', subject: 'Grüße', text: 'Hallo Vic' }

describe('mail from site code', () => {
  test('leaves from its own site, with the id that was given back', async () => {
    for (const host of ['one.test', 'two.test']) {
      const to = `vic@${host}.example`
      const { messageId, messageIds } = await send({ ...MESSAGE, to, replyTo: `ann@${host}` }, host)
      const message = await mailTo(stack, to)
      expect(messageIds).toEqual([messageId])
      expect(message).toMatchObject({
        messageId,
        kind: 'site',
        from: `no-reply@${host}`,
        to,
        subject: 'Grüße',
        text: 'Hallo Vic',
      })
      const raw = await rawOf(message)
      expect(raw).toContain(`Reply-To: ann@${host}\r\n`)
    }
  })

  test('goes to each recipient by itself, once', async () => {
    const to = ['a@many.test', 'b@many.test', 'A@MANY.test', 'a@many.test']
    const { messageIds } = await send({ to, subject: 'All', html: '<p>Hi</p>' })
    expect(messageIds).toHaveLength(3)
    await mailTo(stack, 'b@many.test')
    const [first] = [await mailTo(stack, 'a@many.test')]
    expect(await rawOf(first)).not.toContain('b@many.test')
    expect(await rawOf(first)).not.toContain('text/plain')
  })

  test.each([
    ['no recipient', { ...MESSAGE, to: [] }, 'to'],
    ['51 of them', { ...MESSAGE, to: Array.from({ length: 51 }, (_, n) => `a${n}@b.test`) }, 'to'],
    ['no address', { ...MESSAGE, to: 'vic' }, 'to[0]'],
    ['two in one', { ...MESSAGE, to: 'vic@a.test, eve@b.test' }, 'to[0]'],
    ['a header in the address', { ...MESSAGE, to: 'vic@a.test\r\nBcc: eve@b.test' }, 'to[0]'],
    ['a header in the subject', { ...MESSAGE, subject: 'Hi\r\nBcc: eve@b.test' }, 'subject'],
    ['a long subject', { ...MESSAGE, subject: 'x'.repeat(999) }, 'subject'],
    ['a header in replyTo', { ...MESSAGE, replyTo: 'a@b.test\nBcc: eve@b.test' }, 'replyTo'],
    ['no body', { to: 'vic@a.test', subject: 'Hi' }, 'text'],
    ['a body over 1 MiB', { ...MESSAGE, text: 'ä'.repeat(600_000) }, 'text'],
    ['a sender', { ...MESSAGE, from: 'ceo@bank.test' }, 'from'],
    ['files and no mailbox', { ...MESSAGE, attachments: [] }, 'mailbox'],
    ['a whole message and no mailbox', { ...MESSAGE, raw: 'eA==' }, 'mailbox'],
    ['nothing', undefined, ''],
  ])('is refused with %s, and nothing is sent', async (_what, message, field) => {
    const { caught } = await send(message)
    expect(caught).toMatchObject({ code: 'ValidationError', statusCode: 400 })
    expect(caught.message).toContain(field)
  })

  test('that was acknowledged is there after the process that took it is gone', async () => {
    const dark = await startStack({ beside: stack })
    const { siteId } = await stack.context.sites.find('one.test')
    const to = 'later@example.org'
    // Two replicas: the one that takes the message ends at once, whichever is to send it.
    const site = await RuntimeSite.open(dark, 'one.test')
    const { json } = await site.call('send', { ...MESSAGE, to })
    await dark[Symbol.asyncDispose]()
    const message = await mailTo(stack, to)
    expect(message).toMatchObject({ messageId: json.data.messageId, siteId })
    const alone = async () => (await allMailTo(stack, to)).length === 1
    await vi.waitUntil(alone, { timeout: 30_000 })
  })
})

describe('mail from a mailbox of the site', () => {
  const FILE = randomBytes(200_000)
  const LETTER = {
    mailbox: 'info@one.test',
    to: 'Vic Ö <vic@boxes.test>',
    subject: 'Größe',
    text: 'Hallo',
  }
  let ann: Member
  beforeAll(async () => {
    await makeMailboxes(stack, 'one.test', ['info', 'closed'])
    await makeMailboxes(stack, 'two.test', ['shop'])
    ann = await new AdminPool(stack, 'one.test').first()
    await ann.call('DELETE', '/mailboxes/closed@one.test')
  })

  test('is that of `messages/send`: filed, with its files, in one conversation', async () => {
    const attachments = [
      {
        filename: 'Größe.bin',
        contentType: 'application/x-thing',
        contentBase64: FILE.toString('base64'),
      },
    ]
    const sent = await send({ ...LETTER, cc: ['al@boxes.test'], html: '<b>Hallo</b>', attachments })
    expect(sent).toEqual({
      id: sent.id,
      threadId: sent.id,
      messageId: sent.id,
      messageIds: [sent.id],
    })
    const detail = await vi.waitFor(async () => {
      const { json } = await ann.call('GET', `/messages/${sent.id}`)
      expect(json.parsing).toBe('parsed')
      const states = json.deliveries.map(({ status }: { status: string }) => status)
      expect(states).toEqual(['captured', 'captured'])
      return json
    }, PATIENCE)
    expect(detail).toMatchObject({
      folder: 'SENT',
      from: 'info@one.test',
      to: ['Vic Ö <vic@boxes.test>'],
      cc: ['al@boxes.test'],
      subject: 'Größe',
      attachments: [{ filename: 'Größe.bin', size: FILE.length }],
    })
    const { hostname, pathname, search } = new URL(detail.attachments[0].url)
    const got = await stack.call(hostname, 'GET', pathname + search)
    expect(got.bytes.equals(FILE)).toBe(true)
  })

  test('may be composed elsewhere', async () => {
    const raw = Buffer.from(
      'From: Info <info@one.test>\r\nSubject: Raw\r\nMessage-ID: <raw@one.test>\r\n\r\nÖ\r\n',
    ).toString('base64')
    const { id } = await send({ ...LETTER, text: undefined, subject: 'Raw', raw })
    const { json } = await ann.call('GET', `/messages/${id}`)
    expect(json).toMatchObject({ from: 'Info <info@one.test>', messageId: 'raw@one.test' })
  })

  test('is sent once under its key', async () => {
    const letter = { ...LETTER, idempotencyKey: 'report-1' }
    const { id } = await send(letter)
    expect((await send(letter)).id).toBe(id)
    const { caught } = await send({ ...letter, text: 'Other' })
    expect(caught).toMatchObject({ code: 'IdempotencyKeyReused', statusCode: 422 })
    expect((await send({ ...letter, idempotencyKey: 'report-2' })).id).not.toBe(id)
  })

  test.each([
    ['a mailbox of another site', { mailbox: 'shop@two.test' }, 'MailboxNotFound'],
    ['no mailbox', { mailbox: 'nobody@one.test' }, 'MailboxNotFound'],
    ['a disabled one', { mailbox: 'closed@one.test' }, 'MailboxDisabled'],
    [
      'a header behind the mailbox',
      { mailbox: 'info@one.test\r\nBcc: e@b.test' },
      'MailboxNotFound',
    ],
    ['a header in to', { to: 'vic@a.test\r\nBcc: eve@b.test' }, 'ValidationError'],
    ['two addresses in one', { to: 'vic@a.test, eve@b.test' }, 'ValidationError'],
    ['a header in the subject', { subject: 'Hi\r\nBcc: eve@b.test' }, 'ValidationError'],
    ['NUL in the text', { text: 'a\0b' }, 'ValidationError'],
    ['a header in replyTo', { replyTo: 'a@b.test\nBcc: eve@b.test' }, 'ValidationError'],
    ['a header in cc', { cc: ['a@b.test\r\nX: y'] }, 'ValidationError'],
    ['no recipient', { to: [] }, 'ValidationError'],
    ['nothing to say', { text: undefined }, 'ValidationError'],
    ['staged files', { attachmentRefs: [] }, 'ValidationError'],
    [
      'another author',
      { raw: Buffer.from('From: e@b.test\r\n\r\n').toString('base64') },
      'ValidationError',
    ],
    [
      'eleven files',
      { attachments: Array.from({ length: 11 }, () => file()) },
      'TooManyAttachments',
    ],
    ['a path as a name', { attachments: [file({ filename: '../a' })] }, 'ValidationError'],
    ['a header in a name', { attachments: [file({ filename: 'a\r\nX: y' })] }, 'ValidationError'],
    [
      'a header in a type',
      { attachments: [file({ contentType: 'a/b\r\nX: y' })] },
      'ValidationError',
    ],
    ['what is no base64', { attachments: [file({ contentBase64: '%' })] }, 'ValidationError'],
    ['a long key', { idempotencyKey: 'x'.repeat(256) }, 'ValidationError'],
  ])('is refused with %s, and nothing is sent', async (_what, more, code) => {
    const subject = `Refused ${randomBytes(4).toString('hex')}`
    const { caught } = await send({ ...LETTER, subject, ...more })
    expect(caught.code, caught.message).toBe(code)
    const { json } = await ann.call('GET', '/messages?mailbox=info@one.test&folder=SENT')
    expect(json.items.map((item: { subject: string }) => item.subject)).not.toContain(subject)
  })

  test('is counted with all of its recipients', async () => {
    const recipients = Array.from({ length: 90 }, (_, at) => `many-${at}@boxes.test`)
    await send({ ...LETTER, mailbox: 'shop@two.test', to: recipients }, 'two.test')
    const { caught } = await send(
      { ...LETTER, mailbox: 'shop@two.test', to: [], bcc: recipients.slice(0, 11) },
      'two.test',
    )
    expect(caught).toMatchObject({ code: 'TooManyRequests' })
  })
})

const file = (more: object = {}) => ({
  filename: 'a.txt',
  contentType: 'text/plain',
  contentBase64: 'YQ==',
  ...more,
})

/** As it would have left. */
async function rawOf({ messageId, createdAt }: CapturedMessage): Promise<string> {
  const time = String(new Date(createdAt).getTime()).padStart(15, '0')
  return readFile(join(stack.dataDir, 'outbox', `${time}-${messageId}.eml`), 'utf8')
}
