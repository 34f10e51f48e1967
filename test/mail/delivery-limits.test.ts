import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { makeMailboxes } from '#test/inbound-mail.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** What may be tried again is tried after five seconds. */
const PATIENCE = { timeout: 40_000, interval: 50 }
const BOX = 'info@one.test'

const cleanUp = new AsyncDisposableStack()
let gateway: SmtpServer
let stack: Stack
let ann: Member
beforeAll(async () => {
  gateway = cleanUp.use(await SmtpServer.start())
  const mailTransport = cleanUp.use(new SmtpGateway(`smtp://127.0.0.1:${gateway.port}`))
  stack = cleanUp.use(await startStack({ platform: { mailTransport } }))
  ann = await new AdminPool(stack, 'one.test').first()
  await makeMailboxes(stack, 'one.test', ['info'])
})
afterAll(() => cleanUp.disposeAsync())
beforeEach(() => {
  gateway.answer = () => undefined
})

async function send(to: readonly string[]): Promise<string> {
  const body = { mailbox: BOX, to, subject: 'Hello', body: 'Hi' }
  const sent = await ann.call('POST', '/messages/send', { body })
  if (sent.status !== 200) throw new Error(sent.text)
  return sent.json.id
}
const rowOf = (messageId: string, to: string) =>
  stack.inSite('one.test', (tx, { siteId }) =>
    tx.db
      .selectFrom('mail_recipient')
      .select(['status', 'attempts'])
      .where('site_id', '=', siteId)
      .where('message_id', '=', messageId)
      .where('recipient', '=', to)
      .executeTakeFirst(),
  )
const askedFor = (to: string) =>
  gateway.commands.filter((line) => line.startsWith('RCPT') && line.includes(to))

test.each([
  ['the gateway refuses permanently', '550 5.7.1 we do not take that'],
  ['does not exist', '550 5.1.1 no such user'],
])('a recipient that %s is asked for once', async (_why, answer) => {
  const to = `no-${answer.slice(4, 9).replaceAll('.', '')}@refusing.test`
  const later = 'later@refusing.test'
  const seen: string[] = []
  gateway.answer = (verb, line) => {
    if (verb !== 'RCPT') return undefined
    if (line.includes(to)) return answer
    if (line.includes(later)) seen.push(line)
    return line.includes(later) && seen.length === 1 ? '451 4.2.1 asleep' : undefined
  }
  const messageId = await send([to, later])
  await expect
    .poll(() => rowOf(messageId, to), PATIENCE)
    .toMatchObject({ status: 'failed', attempts: 1 })
  // A whole round of the queue: the other one was tried again by then.
  await expect.poll(() => rowOf(messageId, later), PATIENCE).toMatchObject({ status: 'sent' })
  expect(askedFor(to)).toHaveLength(1)
})
