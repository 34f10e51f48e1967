import { randomUUID } from 'node:crypto'

import { sql } from 'kysely'
import { type DNSResolver, dkimVerify } from 'mailauth'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { DnsAnswer, DnsResolver } from '#platform/dns/dns-resolver.ts'
import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { forwardMailbox } from '#test/forwarding.ts'
import type { Answer } from '#test/http-client.ts'
import { RawSmtp, dnsOf, keptMessages, mailSettings, makeMailboxes } from '#test/inbound-mail.ts'
import { allMailTo } from '#test/outbox.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'

const SITES = ['one.test', 'two.test', 'bare.test', 'moved.test']
const PATIENCE = { timeout: 20_000, interval: 50 }
const MAX_BYTES = 200_000
const DAY_SECONDS = 24 * 3600
const records: Record<string, DnsAnswer | string> = {
  'MX moved.test': [{ priority: 10, exchange: 'mx.hosted.test' }],
}

const cleanUp = new AsyncDisposableStack()
/** The server of all other domains. */
let elsewhere: SmtpServer
/** The same sites without a gateway, and with one. */
let alone: Stack
let connected: Stack
beforeAll(async () => {
  elsewhere = cleanUp.use(await SmtpServer.start())
  alone = await started({})
  const mailTransport = cleanUp.use(new SmtpGateway(`smtp://127.0.0.1:${elsewhere.port}`))
  connected = await started({ mailTransport })
})
afterAll(() => cleanUp.disposeAsync())

async function started(platform: { readonly mailTransport?: SmtpGateway }): Promise<Stack> {
  const dns: DnsResolver = (name, type) => dnsOf(records)(name, type)
  const stack = cleanUp.use(
    await startStack({
      sites: SITES,
      config: { mail: mailSettings({ smtpLimits: { messageBytes: MAX_BYTES } }) },
      platform: { dns, ...platform },
    }),
  )
  await makeMailboxes(stack, 'one.test', ['info', 'other'])
  await makeMailboxes(stack, 'two.test', ['shop', 'closed', 'full'])
  await makeMailboxes(stack, 'moved.test', ['here'])
  const two = await new AdminPool(stack, 'two.test').first()
  await done(two.call('DELETE', '/mailboxes/closed@two.test'))
  await done(two.call('PUT', '/aliases/team@two.test', { body: { targets: ['shop@two.test'] } }))
  return stack
}

const admin = (stack: Stack, site: string): Promise<Member> => new AdminPool(stack, site).first()

async function done(call: Promise<Answer>): Promise<Answer> {
  const answer = await call
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`)
  return answer
}

interface Sent {
  readonly id: string
  readonly subject: string
}

async function send(stack: Stack, to: readonly string[], more: object = {}): Promise<Sent> {
  const subject = `Local ${randomUUID()}`
  const body = { mailbox: 'info@one.test', to, subject, body: 'How are you?', ...more }
  const by = await admin(stack, 'one.test')
  const { json } = await done(by.call('POST', '/messages/send', { body }))
  return { id: json.id, subject }
}
/** What became of it, once that is known. */
const ended = (stack: Stack, { id }: Sent) =>
  vi.waitFor(async () => {
    const by = await admin(stack, 'one.test')
    const { deliveries } = (await done(by.call('GET', `/messages/${id}`))).json
    expect(deliveries.map(({ status }: { status: string }) => status)).not.toContain('queued')
    return deliveries as readonly { recipient: string; status: string; reply: string | null }[]
  }, PATIENCE)
const kept = async (stack: Stack, site: string, subject: string, mailbox?: string) =>
  (await keptMessages(stack, site)).filter(
    (message) => message.subject === subject && (mailbox ?? message.mailbox) === message.mailbox,
  )
const arrived = (stack: Stack, site: string, subject: string, mailbox?: string) =>
  vi.waitFor(async () => {
    const found = await kept(stack, site, subject, mailbox)
    expect(found).not.toHaveLength(0)
    return found
  }, PATIENCE)

describe.each([
  ['without a gateway', () => alone, 'captured'],
  ['with a gateway', () => connected, 'sent'],
])('mail %s', (_, stackOf, foreign) => {
  test('reaches mailboxes, aliases and plus addresses of sites here, and only others leave', async () => {
    const stack = stackOf()
    const to = [
      'shop@two.test',
      'TEAM@Two.test',
      'shop+x@two.test',
      'other@one.test',
      'v@else.test',
    ]
    const sent = await send(stack, to)
    const deliveries = await ended(stack, sent)
    expect(
      Object.fromEntries(deliveries.map(({ recipient, status }) => [recipient, status])),
    ).toEqual({
      'shop@two.test': 'sent',
      'TEAM@two.test': 'sent',
      'shop+x@two.test': 'sent',
      'other@one.test': 'sent',
      'v@else.test': foreign,
    })
    const recipients = (await kept(stack, 'two.test', sent.subject)).map(
      ({ recipient }) => recipient,
    )
    expect(recipients.toSorted()).toEqual(['TEAM@two.test', 'shop+x@two.test', 'shop@two.test'])
    expect(await kept(stack, 'one.test', sent.subject, 'other')).toHaveLength(1)
    const outside = elsewhere.messages.filter(({ data }) => data.includes(sent.subject))
    expect(outside.map(({ to: [only] }) => only)).toEqual(foreign === 'sent' ? ['v@else.test'] : [])
    expect(await allMailTo(stack, 'v@else.test')).toHaveLength(foreign === 'sent' ? 0 : 1)
    expect(await allMailTo(stack, 'shop@two.test')).toEqual([])
  })

  test('has a good signature, an honest trace and the verdict of its site', async () => {
    const stack = stackOf()
    const { subject } = await send(stack, ['shop@two.test'])
    const [message] = await arrived(stack, 'two.test', subject)
    const { raw = '', trace = '' } = message ?? {}
    const { items } = (await done(stack.portal('GET', '/sites/one.test/dkim'))).json
    const [{ name, value }] = items
    const resolver = dnsOf({ [`TXT ${name}`]: [[value]] }) as DNSResolver
    const { results } = await dkimVerify(Buffer.from(raw, 'latin1'), { resolver })
    expect(results.map(({ status }) => status.result)).toEqual(['pass'])
    expect(trace).toMatch(
      /^Return-Path: <info@one\.test>\r\nReceived: from one\.test\r\n by mx\.croft\.test with LOCAL id raw_\w+\r\n for <shop@two\.test>;/,
    )
    expect(message).toMatchObject({
      envelopeFrom: 'info@one.test',
      client: { address: '', protocol: 'LOCAL' },
      authentication: { spf: 'pass', dkim: 'pass', dmarc: 'pass', fromDomain: 'one.test' },
    })
  })

  test.each([
    ['that is unknown', 'nobody@two.test', '550 5.1.1'],
    ['that was closed', 'closed@two.test', '550 5.2.1'],
    ['of the own site that is unknown', 'nobody@one.test', '550 5.1.1'],
  ])('to an address %s fails, and its sender has a notice', async (_what, address, reply) => {
    const stack = stackOf()
    const sent = await send(stack, [address])
    const deliveries = await ended(stack, sent)
    expect(deliveries).toMatchObject([{ status: 'failed', reply: expect.stringContaining(reply) }])
    const [notice] = await arrived(stack, 'one.test', `Not delivered: ${sent.subject}`, 'info')
    expect(notice?.raw).toContain(`Final-Recipient: rfc822; ${address}`)
    expect(notice?.raw).toContain(`Status: ${reply.slice(4)}`)
    expect(elsewhere.messages.filter(({ data }) => data.includes(sent.subject))).toEqual([])
  })

  test('to an address that was unknown arrives once there is a mailbox', async () => {
    const stack = stackOf()
    expect(await ended(stack, await send(stack, ['late@two.test']))).toMatchObject([
      { status: 'failed' },
    ])
    await makeMailboxes(stack, 'two.test', ['late'])
    const { subject } = await send(stack, ['late@two.test'])
    await arrived(stack, 'two.test', subject, 'late')
  })

  test('that is larger than the server takes fails', async () => {
    const stack = stackOf()
    const sent = await send(stack, ['shop@two.test'], { body: 'words '.repeat(MAX_BYTES / 6) })
    const [delivery] = await ended(stack, sent)
    expect(delivery).toMatchObject({
      status: 'failed',
      reply: expect.stringContaining('552 5.3.4'),
    })
  })

  test('to a full mailbox waits until there is room', async () => {
    const stack = stackOf()
    const two = await admin(stack, 'two.test')
    const settings = (quotaMessages: number | null) =>
      done(two.call('PUT', '/mailboxes/full@two.test/settings', { body: { quotaMessages } }))
    await settings(0)
    const sent = await send(stack, ['full@two.test'])
    await vi.waitFor(async () => {
      const by = await admin(stack, 'one.test')
      const { deliveries } = (await done(by.call('GET', `/messages/${sent.id}`))).json
      expect(deliveries).toMatchObject([
        { status: 'queued', reply: expect.stringContaining('452 4.2.2') },
      ])
    }, PATIENCE)
    await settings(null)
    await hurry(stack)
    await arrived(stack, 'two.test', sent.subject, 'full')
  })

  test('of site code arrives, as of the service itself', async () => {
    const stack = stackOf()
    const { siteId } = await stack.context.sites.find('one.test')
    const subject = `Code ${randomUUID()}`
    await stack.context.siteMessages.send(siteId, {
      to: ['shop@two.test'],
      subject,
      text: 't',
      html: '',
    })
    const [message] = await arrived(stack, 'two.test', subject)
    expect(message?.raw).toMatch(/^DKIM-Signature: /)
    expect(message).toMatchObject({ envelopeFrom: 'no-reply@one.test' })
    const two = await admin(stack, 'two.test')
    const invited = { email: 'shop@two.test', role: 'user' }
    await done(two.call('POST', '/users', { body: invited }))
    await vi.waitFor(async () => {
      const kinds = (await keptMessages(stack, 'two.test')).filter(
        ({ envelopeFrom, mailbox }) => envelopeFrom === 'no-reply@two.test' && mailbox === 'shop',
      )
      expect(kinds).not.toHaveLength(0)
    }, PATIENCE)
  })

  test('that is forwarded keeps its author and the verdict of the first site, and never loops', async () => {
    const stack = stackOf()
    const [from, to] = [`a-${randomUUID()}`, `b-${randomUUID()}`]
    await makeMailboxes(stack, 'one.test', [from])
    await makeMailboxes(stack, 'two.test', [to])
    await forwardMailbox(stack, `${from}@one.test`, { targets: [`${to}@two.test`], keepCopy: true })
    await forwardMailbox(stack, `${to}@two.test`, { targets: [`${from}@one.test`], keepCopy: true })
    const port = await smtpPort(stack)
    await using client = await RawSmtp.greeted(port)
    const subject = `Forwarded ${randomUUID()}`
    const text = `From: Eve <eve@else.test>\r\nSubject: ${subject}\r\n\r\nText\r\n`
    expect(await client.message('eve@else.test', [`${from}@one.test`], text)).toMatch(/^250/)
    const [message] = await arrived(stack, 'two.test', subject, to)
    const [first] = await arrived(stack, 'one.test', subject, from)
    expect(message?.raw).toContain('From: Eve <eve@else.test>')
    expect(message?.envelopeFrom).toMatch(/^srs0=.*@one\.test$/i)
    expect(message?.authentication).toEqual(first?.authentication)
    await vi.waitFor(async () => expect(await queuedCopies(stack)).toBe(0), PATIENCE)
    expect(await kept(stack, 'one.test', subject)).toHaveLength(2)
    expect(await kept(stack, 'two.test', subject)).toHaveLength(1)
  })

  test('that is sent again after a crash is there once', async () => {
    const stack = stackOf()
    const sent = await send(stack, ['shop@two.test'])
    await ended(stack, sent)
    // Its job may wait for longer than other servers do before they send again.
    expect(await rememberedFor(stack, sent.subject)).toBeGreaterThan(2 * DAY_SECONDS)
    // As if the service had died between the commit and its record.
    await stack.inSite('one.test', async (tx) => {
      await sql`update mail_recipient set status = 'queued' where message_id = ${sent.id}`.execute(
        tx.db,
      )
      await sql`update pgboss.job set state = 'retry', start_after = now(), completed_on = null
        where name = 'mail-delivery' and data ->> 'messageId' = ${sent.id}`.execute(tx.db)
    })
    expect(await ended(stack, sent)).toMatchObject([{ status: 'sent' }])
    expect(await kept(stack, 'two.test', sent.subject)).toHaveLength(1)
  })
})

describe('a site whose mail goes to another server', () => {
  test('has what it has no mailbox for sent there', async () => {
    const sent = await send(connected, ['here@moved.test', 'there@moved.test', 'x@bare.test'])
    expect((await ended(connected, sent)).map(({ status }) => status)).toEqual([
      'sent',
      'sent',
      'sent',
    ])
    expect(await kept(connected, 'moved.test', sent.subject)).toMatchObject([{ mailbox: 'here' }])
    const outside = elsewhere.messages.filter(({ data }) => data.includes(sent.subject))
    expect(outside.flatMap(({ to }) => to).toSorted()).toEqual(['there@moved.test', 'x@bare.test'])
  })

  test('has it captured without a gateway', async () => {
    const sent = await send(alone, ['there@moved.test', 'x@bare.test'])
    expect((await ended(alone, sent)).map(({ status }) => status)).toEqual(['captured', 'captured'])
  })

  test('is not guessed where DNS does not answer', async () => {
    records['MX two.test'] = 'ESERVFAIL'
    const sent = await send(connected, ['unsure@two.test'])
    const by = await admin(connected, 'one.test')
    await vi.waitFor(async () => {
      const { deliveries } = (await done(by.call('GET', `/messages/${sent.id}`))).json
      expect(deliveries).toMatchObject([
        { status: 'queued', reply: expect.stringContaining('DNS') },
      ])
    }, PATIENCE)
    delete records['MX two.test']
    await hurry(connected)
    expect(await ended(connected, sent)).toMatchObject([{ status: 'failed' }])
  })
})

const ports = new Map<Stack, Promise<number>>()
function smtpPort(stack: Stack): Promise<number> {
  const port = ports.get(stack) ?? stack.context.smtp.start()
  if (!ports.has(stack)) cleanUp.defer(() => stack.context.smtp.drain(1000))
  ports.set(stack, port)
  return port
}

/** Lets every pause between tries be over. */
const hurry = (stack: Stack) =>
  stack.inSite('one.test', (tx) =>
    sql`update pgboss.job set start_after = now()
        where name = 'mail-delivery' and state = 'retry'`.execute(tx.db),
  )

/** Seconds in which the message is known again. */
async function rememberedFor(stack: Stack, subject: string): Promise<number> {
  const { rows } = await stack.inSite('two.test', (tx) =>
    sql<{ seconds: number }>`
      select extract(epoch from delivery.expires_at - now())::int as seconds
      from mail_delivery delivery join mail_message message using (site_id, message_id)
      where message.subject = ${subject}`.execute(tx.db),
  )
  return rows[0]?.seconds ?? 0
}

/** Forwarded copies of any site that are still on their way. */
async function queuedCopies(stack: Stack): Promise<number> {
  let count = 0
  for (const site of ['one.test', 'two.test']) {
    const { rows } = await stack.inSite(site, (tx) =>
      sql`select from mail_recipient where site_id = ${tx.siteId} and kind = 'forwarded'
          and status = 'queued'`.execute(tx.db),
    )
    count += rows.length
  }
  return count
}
