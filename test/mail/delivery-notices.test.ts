import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { dnsOf, keptMessages, mailSettings, makeMailboxes } from '#test/inbound-mail.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATIENCE = { timeout: 30_000, interval: 50 }
const HOUR_MS = 3_600_000
const cleanUp = new AsyncDisposableStack()
let now = new Date()
let stack: Stack
let gateway: SmtpServer
const admins = new Map<string, Member>()
const down = new Set<string>()
const gone = new Set<string>()

beforeAll(async () => {
  gateway = cleanUp.use(await SmtpServer.start())
  gateway.answer = (verb, line) => {
    if (verb !== 'RCPT') return undefined
    const recipient = /<(.*)>/.exec(line)?.[1] ?? ''
    if (recipient.startsWith('gone') || gone.has(recipient))
      return '550 5.1.1 there is\tno such user'
    return down.has(recipient) ? '451 4.2.1 asleep' : undefined
  }
  const mailTransport = cleanUp.use(new SmtpGateway(`smtp://127.0.0.1:${gateway.port}`))
  stack = cleanUp.use(
    await startStack({
      config: { mail: mailSettings() },
      platform: { mailTransport, dns: dnsOf({}), clock: { now: () => now } },
    }),
  )
  for (const site of ['one.test', 'two.test']) {
    admins.set(site, await new AdminPool(stack, site).first())
    await makeMailboxes(stack, site, ['info', 'full'])
  }
})
afterAll(() => cleanUp.disposeAsync())

const adminOf = (site: string): Member => {
  const admin = admins.get(site)
  if (!admin) throw new Error(`No recipient reads the mail of ${site}`)
  return admin
}

let made = 0
async function send(mailbox: string, to: readonly string[]) {
  const subject = `Größe ${++made}`
  const body = { mailbox, to, subject, body: 'Hi' }
  const by = adminOf(mailbox.split('@')[1] ?? '')
  const sent = await by.call('POST', '/messages/send', { body })
  if (sent.status !== 200) throw new Error(sent.text)
  return { id: sent.json.id as string, threadId: sent.json.threadId as string, subject }
}
async function noticesIn(mailbox: string, subject: string) {
  const by = adminOf(mailbox.split('@')[1] ?? '')
  const { json } = await by.call('GET', `/messages?mailbox=${mailbox}&folder=INBOX&limit=100`)
  return json.items.filter((item: { subject: string }) => item.subject.endsWith(`: ${subject}`))
}
const noticed = (mailbox: string, subject: string, count = 1) =>
  vi.waitFor(async () => {
    const found = await noticesIn(mailbox, subject)
    expect(found).toHaveLength(count)
    const details = []
    for (const { id } of found) {
      const { json } = await adminOf(mailbox.split('@')[1] ?? '').call('GET', `/messages/${id}`)
      expect(json.parsing).toBe('parsed')
      details.push(json)
    }
    return details
  }, PATIENCE)
const delivered = (mailbox: string, id: string, statuses: readonly string[]) =>
  vi.waitFor(async () => {
    const { json } = await adminOf(mailbox.split('@')[1] ?? '').call('GET', `/messages/${id}`)
    const found = json.deliveries.map(({ status }: { status: string }) => status)
    expect(found).toEqual(statuses)
  }, PATIENCE)

/** Counts the statements that wait for a row of a recipient. */
async function waiting(): Promise<number> {
  const { rows } = await stack.inSite('one.test', (tx) =>
    sql<{ count: number }>`
      select count(distinct waits.pid)::int as count
      from pg_locks waits join pg_stat_activity using (pid)
      where not waits.granted and datname = current_database() and exists (
        select from pg_locks held where held.pid = waits.pid
          and held.relation = 'mail_recipient'::regclass)`.execute(tx.db),
  )
  return rows[0]?.count ?? 0
}

test.each(['one.test', 'two.test'])(
  'a mailbox of %s gets one notice of all that failed',
  async (site) => {
    const mailbox = `info@${site}`
    const to = [`gone-a-${++made}@else.test`, `gone-b-${made}@else.test`, `vic-${made}@else.test`]
    const { id, threadId, subject } = await send(mailbox, to)
    const [notice] = await noticed(mailbox, subject)
    expect(notice).toMatchObject({
      subject: `Not delivered: ${subject}`,
      from: `Mail Delivery System <mailer-daemon@${site}>`,
      threadId,
      seen: false,
    })
    for (const words of [to[0], to[1], '5.1.1 there is no such user']) {
      expect(notice.text).toContain(words)
    }
    expect(notice.text).not.toContain(to[2])
    const raw = (await keptMessages(stack, site)).find(({ raw: text }) =>
      text.includes(`Message-ID: <${notice.messageId}>`),
    )
    expect(raw?.envelopeFrom).toBe('')
    expect(raw?.raw).toMatch(/^Content-Type: multipart\/report; report-type=delivery-status;\r\n/m)
    expect(raw?.raw).toContain(
      `Final-Recipient: rfc822; ${to[0]}\r\nAction: failed\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; `,
    )
    expect(raw?.raw).toContain(`\r\nMessage-ID: <${id}@${site}>\r\n`)
    // A notice is not sent, and is no bounce that takes another recipient for lost.
    expect(gateway.messages.filter(({ from }) => from === '')).toEqual([])
    await delivered(mailbox, id, ['failed', 'failed', 'sent'])
  },
)

test('a recipient that is suppressed is reported, too', async () => {
  const to = [`gone-${++made}@else.test`]
  const first = await send('info@one.test', to)
  await noticed('info@one.test', first.subject)
  const second = await send('info@one.test', to)
  const [notice] = await noticed('info@one.test', second.subject)
  expect(notice.text).toContain(to[0])
  await delivered('info@one.test', second.id, ['suppressed'])
})

test('a full mailbox gets no notice, and the message shows it', async () => {
  const by = adminOf('one.test')
  const { id, subject } = await send('full@one.test', [`gone-${++made}@else.test`])
  await by.call('PUT', '/mailboxes/full@one.test/settings', { body: { quotaMessages: 1 } })
  await delivered('full@one.test', id, ['failed'])
  const marked = () =>
    stack.inSite('one.test', (tx) =>
      tx.db.selectFrom('mail_recipient').select('noticed').where('message_id', '=', id).execute(),
    )
  await vi.waitFor(async () => expect(await marked()).toEqual([{ noticed: 'failed' }]), PATIENCE)
  expect(await noticesIn('full@one.test', subject)).toEqual([])
})

test('a run that meets another reports what the other has not reported', async () => {
  const last = `waits-${++made}@else.test`
  down.add(last)
  const to = [`gone-a-${made}@else.test`, `gone-b-${made}@else.test`, last]
  const { id, subject } = await send('info@one.test', to)
  await noticed('info@one.test', subject)
  await stack.inSite('one.test', (tx) =>
    tx.db
      .updateTable('mail_recipient')
      .set({ noticed: null })
      .where('message_id', '=', id)
      .where('recipient', '!=', last)
      .execute(),
  )
  await stack.inSite('one.test', async (tx) => {
    await tx.db
      .updateTable('mail_recipient')
      .set({ noticed: 'failed' })
      .where('message_id', '=', id)
      .where('recipient', '=', to[1] ?? '')
      .execute()
    // Its failure starts a run, which finds all three and waits for the one that this transaction holds.
    gone.add(last)
    await vi.waitFor(async () => expect(await waiting()).toBeGreaterThan(0), PATIENCE)
  })
  const notices = await noticed('info@one.test', subject, 2)
  const second = notices.find(({ text }) => text.includes(last))
  expect(second.text).toContain(to[0])
  expect(second.text).not.toContain(to[1])
})

test('a mailbox gets one notice that a message is late, after four hours', async () => {
  const to = `slow-${++made}@else.test`
  down.add(to)
  const { id, subject } = await send('info@one.test', [to])
  const attempts = async () => {
    const { json } = await adminOf('one.test').call('GET', `/messages/${id}`)
    return json.deliveries[0].attempts as number
  }
  await vi.waitFor(async () => expect(await attempts()).toBeGreaterThan(0), PATIENCE)
  expect(await noticesIn('info@one.test', subject)).toEqual([])
  now = new Date(now.getTime() + 4 * HOUR_MS)
  // The token has expired by now.
  admins.set('one.test', await new AdminPool(stack, 'one.test').first())
  const [notice] = await noticed('info@one.test', subject)
  expect(notice.subject).toBe(`Not delivered yet: ${subject}`)
  expect(notice.text).toContain('451 4.2.1 asleep')
  const seen = await attempts()
  await vi.waitFor(async () => expect(await attempts()).toBeGreaterThan(seen), PATIENCE)
  expect(await noticesIn('info@one.test', subject)).toHaveLength(1)
})
