import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { CapturedMessage } from '#platform/smtp/outbox.ts'
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
    ['a mailbox', { ...MESSAGE, mailbox: 'ann@one.test' }, 'mailbox'],
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
    // Two replicas: the one that takes the message ends at once, whoever is to send it.
    const site = await RuntimeSite.open(dark, 'one.test')
    const { json } = await site.call('send', { ...MESSAGE, to })
    await dark[Symbol.asyncDispose]()
    const message = await mailTo(stack, to)
    expect(message).toMatchObject({ messageId: json.data.messageId, siteId })
    const alone = async () => (await allMailTo(stack, to)).length === 1
    await vi.waitUntil(alone, { timeout: 30_000 })
  })
})

/** As it would have left. */
async function rawOf({ messageId, createdAt }: CapturedMessage): Promise<string> {
  const time = String(new Date(createdAt).getTime()).padStart(15, '0')
  return readFile(join(stack.dataDir, 'outbox', `${time}-${messageId}.eml`), 'utf8')
}
