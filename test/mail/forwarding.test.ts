import { generateKeyPairSync } from 'node:crypto'

import { sql } from 'kysely'
import { type DNSResolver, dkimSign, dkimVerify } from 'mailauth'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { readMailHeaders } from '#mail/headers/mail-headers.ts'
import type { DnsAnswer, DnsResolver } from '#platform/dns/dns-resolver.ts'
import type { MailTransport } from '#platform/smtp/mail-transport.ts'
import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { forwardMailbox } from '#test/forwarding.ts'
import { RawSmtp, dnsOf, keptMessages, mailSettings, makeMailboxes } from '#test/inbound-mail.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'

const SITES = ['one.test', 'two.test', 'three.test']
const DAY_MS = 24 * 3_600_000
const PATIENCE = { timeout: 30_000, interval: 50 }
const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const signer = { signingDomain: 'author.test', selector: 'k', privateKey }
const records: Record<string, DnsAnswer | string> = {
  'TXT k._domainkey.author.test': [[`v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`]],
  'TXT _dmarc.author.test': [['v=DMARC1; p=reject']],
}
const dns: DnsResolver = (name, type) => dnsOf(records)(name, type)

const cleanUp = new AsyncDisposableStack()
let now = new Date()
let stack: Stack
let port: number
/** The server of all other domains. */
let elsewhere: SmtpServer
/** Addresses there that take nothing now, and how often they were tried. */
const down = new Map<string, number>()
const admins = new Map<string, Member>()

beforeAll(async () => {
  elsewhere = cleanUp.use(await SmtpServer.start())
  elsewhere.answer = (verb, line) => {
    if (verb !== 'RCPT') return undefined
    const recipient = /<(.*)>/.exec(line)?.[1] ?? ''
    if (recipient.startsWith('gone')) return '550 5.1.1 no such user'
    if (!down.has(recipient)) return undefined
    down.set(recipient, (down.get(recipient) ?? 0) + 1)
    return '451 4.3.0 later'
  }
  const outside = cleanUp.use(new SmtpGateway(`smtp://127.0.0.1:${elsewhere.port}`))
  const inside = Promise.withResolvers<SmtpGateway>()
  // A gateway that brings mail for the sites here back to the port at which they take it.
  const mailTransport: MailTransport = {
    delivers: true,
    send: async (message, signal) => {
      const isOurs = SITES.some((site) => message.to.endsWith(`@${site}`))
      await (isOurs ? await inside.promise : outside).send(message, signal)
    },
    verify: () => outside.verify(),
    [Symbol.asyncDispose]: async () => {},
  }
  const platform = { mailTransport, dns, clock: { now: () => now } }
  stack = cleanUp.use(
    await startStack({ sites: SITES, config: { mail: mailSettings() }, platform }),
  )
  port = await stack.context.smtp.start()
  cleanUp.defer(() => stack.context.smtp.drain(1000))
  inside.resolve(cleanUp.use(new SmtpGateway(`smtp://127.0.0.1:${port}`)))
  for (const site of SITES) admins.set(site, await new AdminPool(stack, site).first())
})
afterAll(() => cleanUp.disposeAsync())

/** Lets every pause between tries be over. */
const hurry = () =>
  stack.inSite('one.test', (tx) =>
    sql`update pgboss.job set start_after = now()
        where name = 'mail-delivery' and state = 'retry'`.execute(tx.db),
  )
/** What `check` gives once it passes, however often mail is tried until then. */
const eventually = <Found>(check: () => Found | Promise<Found>): Promise<Found> =>
  vi.waitFor(async () => {
    await hurry()
    return check()
  }, PATIENCE)

let made = 0
/** A mailbox of its own for a test, which forwards. */
async function forwarding(site: string, targets: readonly string[], keepCopy = true) {
  const name = `box-${++made}`
  await makeMailboxes(stack, site, [name])
  const address = `${name}@${site}`
  await forwardMailbox(stack, address, { targets, keepCopy })
  return address
}
async function plainMailbox(site: string): Promise<string> {
  const name = `box-${++made}`
  await makeMailboxes(stack, site, [name])
  return `${name}@${site}`
}

const messageTo = (address: string, subject: string): string =>
  `From: Ann <ann@author.test>\r\nTo: ${address}\r\nSubject: ${subject}\r\nMessage-ID: <${++made}@author.test>\r\nDate: Sun, 1 Mar 2026 12:00:00 +0000\r\n\r\nDear Größe,\r\n..text\r\n \r\n`

/** With a signature of the author's domain, which asks all to refuse what is not signed. */
async function signed(message: string): Promise<string> {
  const { signatures } = await dkimSign(Buffer.from(message), {
    canonicalization: 'relaxed/simple',
    ...signer,
    signatureData: [signer],
  })
  return signatures + message
}

async function arrive(to: string, message: string, from = 'ann@author.test'): Promise<void> {
  await using client = await RawSmtp.greeted(port)
  const stuffed = message.replaceAll(/^\./gm, '..')
  expect(await client.message(from, [to], stuffed)).toMatch(/^250 2\.6\.0/)
}
/** What is in the mailbox, the oldest first. */
const kept = async (address: string) => {
  const [name = '', site = ''] = address.split('@')
  return (await keptMessages(stack, site)).filter(({ mailbox }) => mailbox === name)
}
const messagesIn = async (address: string, count: number) => {
  await eventually(async () => expect(await kept(address)).toHaveLength(count))
  return kept(address)
}
const takenElsewhere = (to: string) =>
  elsewhere.messages.filter((message) => message.to.includes(to))
const arrivedElsewhere = async (to: string) => {
  await eventually(() => expect(takenElsewhere(to)).not.toHaveLength(0))
  return takenElsewhere(to)
}

/** What the owner sees of the first message of a mailbox. */
async function deliveriesOf(address: string) {
  const by = admins.get(address.split('@')[1] ?? '')
  if (!by) throw new Error(`${address} has no mailbox`)
  const { json } = await by.call('GET', `/messages?mailbox=${address}&folder=INBOX`)
  const detail = await by.call('GET', `/messages/${json.items[0]?.id}`)
  return detail.json.deliveries as { recipient: string; status: string; reply: string | null }[]
}
const settled = (address: string) =>
  eventually(async () => {
    const deliveries = await deliveriesOf(address)
    expect(deliveries).not.toEqual([])
    expect(deliveries.filter(({ status }) => status === 'queued')).toEqual([])
    return deliveries
  })
const dkimOf = async (raw: Buffer) => {
  const { results } = await dkimVerify(raw, {
    resolver: dns as DNSResolver,
  })
  return results.map(({ signingDomain, status }) => [signingDomain, status.result])
}

describe.concurrent('a forwarded message', () => {
  test('goes through three sites with the body and the signature of its author', async () => {
    const third = await plainMailbox('three.test')
    const second = await forwarding('two.test', [third])
    const first = await forwarding('one.test', [second])
    const message = await signed(messageTo(first, 'Chain'))
    await arrive(first, message)
    const [last] = await messagesIn(third, 1)
    const raw = last?.raw ?? ''
    expect(raw.endsWith(Buffer.from(message).toString('latin1'))).toBe(true)
    expect(await dkimOf(Buffer.from(raw, 'latin1'))).toEqual([['author.test', 'pass']])
    expect(last?.authentication).toMatchObject({ dkim: 'pass', dmarc: 'pass' })
    expect(last?.envelopeFrom).toMatch(
      /^SRS1=[a-z2-7]{8}=one\.test==[a-z2-7]{8}=..=author\.test=ann@two\.test$/,
    )
    expect(raw.match(/^Delivered-To: .*$/gm)).toEqual([
      `Delivered-To: ${second}`,
      `Delivered-To: ${first}`,
    ])
    expect(raw).not.toMatch(/^Return-Path/m)
    // Each of them has kept its own.
    expect([await kept(first), await kept(second)].map(({ length }) => length)).toEqual([1, 1])
    expect(await settled(first)).toMatchObject([{ recipient: second, status: 'sent' }])
  })

  test('comes back through every return path, when it bounces', async () => {
    const target = `vic-${++made}@else.test`
    const second = await forwarding('two.test', [target])
    const first = await forwarding('one.test', [second])
    await arrive(first, await signed(messageTo(first, 'Bounces')))
    const [taken] = await arrivedElsewhere(target)
    expect(taken?.from).toMatch(/^SRS1=.*@two\.test$/)
    const bounce = 'From: MAILER-DAEMON@else.test\r\nSubject: Undelivered\r\n\r\nNo such user\r\n'
    await arrive(taken?.from ?? '', bounce, '')
    const [back] = await arrivedElsewhere('ann@author.test')
    expect(back).toMatchObject({ from: '', data: expect.stringContaining('No such user') })
    // In no mailbox, and gone from the store.
    expect([await kept(first), await kept(second)].map(({ length }) => length)).toEqual([1, 1])
    for (const site of ['one.test', 'two.test']) {
      const waiting = () =>
        stack.inSite(site, (tx) =>
          tx.db
            .selectFrom('mail_recipient')
            .select('recipient')
            .where('kind', '=', 'returned')
            .execute(),
        )
      await eventually(async () => expect(await waiting()).toEqual([]))
    }
  })

  test('stays with its sender when that is an address of the site, or empty', async () => {
    const target = `vic-${++made}@else.test`
    const address = await forwarding('one.test', [target])
    await arrive(address, messageTo(address, 'Own').replace('author', 'one'), 'bob@one.test')
    await arrive(address, messageTo(address, 'Null').replace('author', 'quiet'), '')
    await eventually(() => expect(takenElsewhere(target)).toHaveLength(2))
    expect(takenElsewhere(target).map(({ from }) => from)).toEqual(['bob@one.test', ''])
  })

  test('ends where it began, when two mailboxes forward to each other and keep nothing', async () => {
    const second = await plainMailbox('two.test')
    const first = await forwarding('one.test', [second], false)
    await forwardMailbox(stack, second, { targets: [first], keepCopy: false })
    await arrive(first, await signed(messageTo(first, 'Round')))
    const looped = async () => (await deliveriesOf(first))[0]?.reply
    await eventually(async () => expect(await looped()).toContain('loop'))
    expect(await kept(first)).toHaveLength(1)
    await messagesIn(second, 0)
    expect((await kept(first))[0]?.raw).toContain('Dear Gr')
  })

  test('goes to the others when one target refuses it, and its author gets no mail', async () => {
    const [gone, there] = [`gone-${++made}@else.test`, `vic-${made}@else.test`]
    const address = await forwarding('one.test', [gone, there], false)
    await arrive(address, await signed(messageTo(address, 'Half')))
    await arrivedElsewhere(there)
    expect(await settled(address)).toMatchObject([
      { recipient: gone, status: 'failed', reply: expect.stringContaining('5.1.1') },
      { recipient: there, status: 'sent' },
    ])
    expect(await kept(address)).toHaveLength(1)
    expect(takenElsewhere('ann@author.test')).toEqual([])
  })

  test('is released once every target has it, and no sooner', async () => {
    const [slow, quick] = [`slow-${++made}@else.test`, `vic-${made}@else.test`]
    down.set(slow, 0)
    const address = await forwarding('one.test', [slow, quick], false)
    await arrive(address, await signed(messageTo(address, 'Down')))
    await arrivedElsewhere(quick)
    await eventually(() => expect(down.get(slow)).toBeGreaterThan(0))
    expect(await kept(address)).toHaveLength(1)
    down.delete(slow)
    await arrivedElsewhere(slow)
    await messagesIn(address, 0)
    expect(takenElsewhere(slow)).toHaveLength(1)
    const left = await stack.inSite('one.test', (tx) =>
      tx.db
        .selectFrom('mailbox')
        .select('used_messages')
        .where('local_part', '=', address.split('@')[0] ?? '')
        .execute(),
    )
    expect(left).toEqual([{ used_messages: '0' }])
  })

  test('is tried again and again while a target is down for an hour, and then gets there once', async () => {
    const target = `hour-${++made}@else.test`
    down.set(target, 0)
    const address = await forwarding('one.test', [target], false)
    await arrive(address, await signed(messageTo(address, 'Hour')))
    // The pauses between ten tries are 5 s, then twice as long each time: 43 minutes together, and 85 before the next.
    for (let tries = 1; tries <= 10; tries += 1) {
      await eventually(async () => {
        await hurry()
        expect(down.get(target)).toBeGreaterThanOrEqual(tries)
      })
    }
    expect(await deliveriesOf(address)).toMatchObject([
      { status: 'queued', reply: expect.stringContaining('4.3.0') },
    ])
    down.delete(target)
    await eventually(async () => {
      expect(takenElsewhere(target)).toHaveLength(1)
    })
    await messagesIn(address, 0)
  })

  test('stays in a mailbox whose owner has filed it since', async () => {
    const target = `vic-${++made}@else.test`
    down.set(target, 0)
    const address = await forwarding('one.test', [target], false)
    await arrive(address, await signed(messageTo(address, 'Filed')))
    const by = admins.get('one.test')
    const { json } = await eventually(async () => {
      const answer = await by?.call('GET', `/messages?mailbox=${address}`)
      expect(answer?.json.items).toHaveLength(1)
      return answer ?? { json: null }
    })
    await by?.call('POST', `/messages/${json.items[0].id}/archive`)
    down.delete(target)
    await arrivedElsewhere(target)
    await eventually(async () => {
      const { json: message } = (await by?.call('GET', `/messages/${json.items[0].id}`)) ?? {}
      expect(message.deliveries).toMatchObject([{ status: 'sent' }])
    })
    expect(await kept(address)).toHaveLength(1)
  })

  test('goes no more where its mailbox has stopped to forward, however long it waits', async () => {
    const target = `vic-${++made}@else.test`
    down.set(target, 0)
    const address = await forwarding('one.test', [target], false)
    await arrive(address, await signed(messageTo(address, 'Stopped')))
    await eventually(async () => expect((await deliveriesOf(address))[0]?.reply).toContain('4.3.0'))
    await forwardMailbox(stack, address, { targets: [], keepCopy: false })
    down.delete(target)
    expect(await settled(address)).toMatchObject([
      { status: 'failed', reply: expect.stringContaining('does not forward') },
    ])
    expect(takenElsewhere(target)).toEqual([])
    expect(await kept(address)).toHaveLength(1)
  })

  test('goes once, however often its server hands it over', async () => {
    const target = `vic-${++made}@else.test`
    const address = await forwarding('one.test', [target])
    const message = await signed(messageTo(address, 'Again'))
    for (let time = 0; time < 3; time += 1) await arrive(address, message)
    await arrivedElsewhere(target)
    await settled(address)
    expect(takenElsewhere(target)).toHaveLength(1)
  })
})

describe('a return path', () => {
  const replyTo = async (recipient: string, sender = ''): Promise<string> => {
    await using client = await RawSmtp.greeted(port)
    return await client.commands(`MAIL FROM:<${sender}>`, `RCPT TO:<${recipient}>`)
  }
  const madeHere = async (): Promise<string> => {
    const target = `vic-${++made}@else.test`
    const address = await forwarding('one.test', [target])
    await arrive(address, await signed(messageTo(address, 'Path')))
    return (await arrivedElsewhere(target))[0]?.from ?? ''
  }

  test('that was not made here is refused', async () => {
    const path = await madeHere()
    expect(await replyTo(path)).toMatch(/^250 /)
    for (const forged of [
      path.replace('=ann@', '=eve@'),
      path.replace('one.test', 'two.test'),
      'SRS0=abcdefgh=ab=author.test=ann@one.test',
      'SRS1=abcdefgh=two.test==abcdefgh=ab=author.test=ann@one.test',
      'srs0=@one.test',
    ]) {
      expect(await replyTo(forged)).toMatch(/^553 5\.1\.3 /)
    }
  })

  test('takes bounces and nothing else, alone, and for three weeks', async () => {
    const path = await madeHere()
    expect(await replyTo(path, 'eve@evil.test')).toMatch(/^550 5\.7\.1 /)
    expect(await replyTo(path, 'MAILER-DAEMON@else.test')).toMatch(/^250 /)
    const other = await plainMailbox('one.test')
    await using client = await RawSmtp.greeted(port)
    await client.commands('MAIL FROM:<>', `RCPT TO:<${path}>`)
    expect(await client.command(`RCPT TO:<${other}>`)).toMatch(/^452 4\.5\.3 /)
    await client.commands('RSET', 'MAIL FROM:<>', `RCPT TO:<${other}>`)
    expect(await client.command(`RCPT TO:<${path}>`)).toMatch(/^452 4\.5\.3 /)
    now = new Date(now.getTime() + 22 * DAY_MS)
    expect(await replyTo(path)).toMatch(/^550 5\.1\.1 /)
  })
})

describe('where the gateway takes no foreign authors', () => {
  test('a message goes on in the name of the mailbox, signed by its site', async () => {
    const mailTransport = cleanUp.use(new SmtpGateway(`smtp://127.0.0.1:${elsewhere.port}`))
    await using own = await startStack({
      sites: ['four.test'],
      config: { mail: mailSettings({ forwardFrom: 'mailbox' }) },
      platform: { mailTransport, dns },
    })
    const ownPort = await own.context.smtp.start()
    await makeMailboxes(own, 'four.test', ['info'])
    await forwardMailbox(own, 'info@four.test', { targets: ['vic@far.test'], keepCopy: true })
    const message = await signed(messageTo('info@four.test', 'Renamed'))
    await using client = await RawSmtp.greeted(ownPort)
    await client.message('ann@author.test', ['info@four.test'], message.replaceAll(/^\./gm, '..'))
    const [taken] = await arrivedElsewhere('vic@far.test')
    await own.context.smtp.drain(1000)
    const raw = taken?.data ?? ''
    expect(taken?.from).toMatch(/^SRS0=.*@four\.test$/)
    expect(readMailHeaders(Buffer.from(raw, 'latin1'))).toMatchObject({
      from: '"Ann via info@four.test" <info@four.test>',
      replyTo: ['Ann <ann@author.test>'],
    })
    expect(raw).toContain('\r\nX-Original-From: Ann <ann@author.test>\r\n')
    const { items } = (await own.portal('GET', '/sites/four.test/dkim')).json
    records[`TXT ${items[0].name}`] = [[items[0].value]]
    expect(await dkimOf(Buffer.from(raw))).toContainEqual(['four.test', 'pass'])
  })
})
