import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'

import type { MailTransport } from '#platform/smtp/mail-transport.ts'
import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { dnsOf, mailSettings } from '#test/inbound-mail.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { jobsAhead } from '#test/turns.ts'

const PATIENCE = { timeout: 60_000, interval: 10 }
/** Places for messages of mailboxes: four for any site, two for one that has none on its way. */
const PLACES = 6
const cleanUp = new AsyncDisposableStack()
let gateway: SmtpServer
let stack: Stack
/** What is handed over waits for it. */
let held: PromiseWithResolvers<void> | undefined
/** Recipients, in the order in which they were handed over. */
let begun: string[] = []
let ann: Member
let anton: Member

beforeAll(async () => {
  gateway = cleanUp.use(await SmtpServer.start())
  const smtp = cleanUp.use(new SmtpGateway(`smtp://127.0.0.1:${gateway.port}`))
  const mailTransport: MailTransport = {
    delivers: true,
    send: async (message, signal) => {
      begun.push(message.to)
      await held?.promise
      await smtp.send(message, signal)
    },
    verify: () => smtp.verify(),
    [Symbol.asyncDispose]: async () => {},
  }
  stack = cleanUp.use(
    await startStack({
      config: { mail: mailSettings() },
      platform: { mailTransport, dns: dnsOf({}) },
    }),
  )
  cleanUp.defer(() => held?.resolve())
  ann = await new AdminPool(stack, 'one.test').first()
  anton = await new AdminPool(stack, 'two.test').first()
  await mailbox(ann, 'info@one.test')
  await mailbox(anton, 'info@two.test')
  // Their invites.
  await vi.waitUntil(() => taken().length === 2, PATIENCE)
  begun = []
})
afterAll(() => cleanUp.disposeAsync())
afterEach(() => {
  held?.resolve()
  held = undefined
  begun = []
  gateway.answer = () => undefined
})

async function mailbox(by: Member, address: string): Promise<void> {
  const answer = await by.call('POST', '/mailboxes', { body: { address, owners: [by.userId] } })
  expect(answer.status).toBe(200)
}

async function send(by: Member, box: string, to: readonly string[]): Promise<void> {
  const body = { mailbox: box, to, subject: 'Hello', body: 'Words.' }
  const answer = await by.call('POST', '/messages/send', { body })
  expect(answer.status).toBe(200)
}

const taken = (): string[] => gateway.messages.flatMap(({ to }) => to)

test('A newsletter delays the single message of another site by what is on its way', async () => {
  held = Promise.withResolvers()
  const domains = Array.from({ length: 100 }, (_, at) => `reader@d${at}.example`)
  const ahead = jobsAhead({
    floodSize: 100,
    flood: () => send(ann, 'info@one.test', domains),
    single: async () => {
      await vi.waitUntil(() => begun.length >= PLACES - 2, PATIENCE)
      await send(anton, 'info@two.test', ['vic@quiet.example'])
      held?.resolve()
    },
    begun: () => begun.map((to) => (to === 'vic@quiet.example' ? 'single' : 'flood')),
  })
  expect(await ahead).toBeLessThan(2 * PLACES)
  await vi.waitUntil(() => domains.every((to) => taken().includes(to)), PATIENCE)
})

test('Domains that answer slowly hold neither the mail to others nor what people wait for', async () => {
  gateway.answer = (verb, line) =>
    verb === 'RCPT' && line.includes('@slow-') ? 'stay silent' : undefined
  const slow = Array.from({ length: 8 }, (_, at) => `reader@slow-${at}.example`)
  await mailbox(ann, 'second@one.test')
  for (let copies = 0; copies < 3; copies += 1) await send(ann, 'second@one.test', slow)
  const begunSlow = () => begun.filter((to) => to.includes('@slow-'))
  await vi.waitUntil(() => begunSlow().length === slow.length, PATIENCE)
  await send(anton, 'info@two.test', ['vic@quick.example'])
  await send(ann, 'second@one.test', ['vera@quick.example'])
  const invited = await ann.call('POST', '/users', {
    body: { email: 'new@one.test', externalEmail: 'new@quick.example' },
  })
  expect(invited.status).toBe(200)
  const quick = ['new@quick.example', 'vera@quick.example', 'vic@quick.example']
  await vi.waitFor(() => expect(taken()).toEqual(expect.arrayContaining(quick)), PATIENCE)
  // One connection each is what they hold.
  expect(begunSlow().toSorted()).toEqual(slow)
})

test('Recipients are what a mailbox may send to, not messages', async () => {
  await mailbox(ann, 'many@one.test')
  const to = (count: number, name: string) =>
    Array.from({ length: count }, (_, at) => `${name}${at}@many.example`)
  await send(ann, 'many@one.test', to(100, 'a'))
  const body = { mailbox: 'many@one.test', to: to(21, 'b'), subject: 'Hello', body: 'Words.' }
  const refused = await ann.call('POST', '/messages/send', { body })
  expect(refused.status).toBe(429)
  expect(refused.json.error.message).toMatch(
    /^At most 120 recipients a minute are sent to by this mailbox: try again in \d+ seconds$/,
  )
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  await send(ann, 'many@one.test', to(20, 'b'))
})
