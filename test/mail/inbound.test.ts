import { createHash } from 'node:crypto'

import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool } from '#test/admin-api.ts'
import { RawSmtp, keptMessages, mailSettings, makeMailboxes } from '#test/inbound-mail.ts'
import { type Stack, startStack } from '#test/stack.ts'

const MESSAGE = 'From: Ann <ann@a.test>\r\nTo: info@one.test\r\nSubject: Hello\r\n\r\nText\r\n'

let stack: Stack
let port: number
beforeAll(async () => {
  stack = await startStack({
    sites: ['one.test', 'two.test', 'xn--bcher-kva.test'],
    config: { mail: mailSettings({ smtpLimits: { messageBytes: 400_000 } }) },
  })
  port = await stack.context.smtp.start()
  await makeMailboxes(stack, 'one.test', [
    'info',
    'sales',
    'closed',
    'full',
    'jürgen',
    'postmaster',
  ])
  await makeMailboxes(stack, 'two.test', ['info'])
  await makeMailboxes(stack, 'xn--bcher-kva.test', ['info'])
  const ann = await new AdminPool(stack, 'one.test').first()
  await ann.call('DELETE', '/mailboxes/closed@one.test')
  const targets = ['info@one.test', 'sales@one.test']
  await ann.call('PUT', '/aliases/both@one.test', { body: { targets } })
  await ann.call('PUT', '/mailboxes/full@one.test/settings', { body: { quotaMessages: 0 } })
})
afterAll(async () => {
  await stack.context.smtp.drain(1000)
  await stack[Symbol.asyncDispose]()
})

let made = 0
/** A message like no other. */
const unique = (body = 'Text\r\n'): string =>
  `From: Ann <ann@a.test>\r\nSubject: Number ${++made}\r\nMessage-ID: <${made}@a.test>\r\n\r\n${body}`
const subjectOf = (message: string): string => /Subject: (.*)\r\n/.exec(message)?.[1] ?? ''

async function keptOf(message: string, host = 'one.test') {
  const all = await keptMessages(stack, host)
  return all.filter(({ subject }) => subject === subjectOf(message))
}

describe('the greeting', () => {
  test('names the extensions', async () => {
    await using client = await RawSmtp.connect(port)
    expect(await client.reply()).toBe('220 mx.croft.test ESMTP ready')
    expect((await client.command('EHLO client.test')).split('\r\n')).toEqual([
      '250-mx.croft.test at your service',
      '250-PIPELINING',
      '250-8BITMIME',
      '250-SMTPUTF8',
      '250-ENHANCEDSTATUSCODES',
      '250-STARTTLS',
      '250 SIZE 400000',
    ])
  })

  test('refuses a client that talks before it', async () => {
    await using client = await RawSmtp.connect(port)
    client.write('EHLO client.test\r\n')
    expect(await client.reply()).toBe('421 mx.croft.test You talk too soon')
    await client.closed()
  })
})

describe('a message', () => {
  test('is kept byte for byte, with its trace beside it', async () => {
    await using client = await RawSmtp.greeted(port)
    expect(await client.message('ann@a.test', ['info@one.test'], MESSAGE)).toBe(
      '250 2.6.0 accepted',
    )
    const [kept, ...others] = await keptMessages(stack, 'one.test')
    expect(others).toEqual([])
    expect(kept).toMatchObject({
      mailbox: 'info',
      recipient: 'info@one.test',
      subject: 'Hello',
      raw: MESSAGE,
      sha256: createHash('sha256').update(MESSAGE).digest('hex'),
      envelopeFrom: 'ann@a.test',
      client: { address: '127.0.0.1', heloName: 'client.test', protocol: 'ESMTP', tls: null },
      authentication: { spf: 'none', dkim: 'none', dmarc: 'none', arc: 'none' },
    })
    expect(kept?.trace).toMatch(
      /^Return-Path: <ann@a\.test>\r\nReceived: from client\.test \(\[127/,
    )
    expect(kept?.trace).toContain('for <info@one.test>')
    expect(kept?.trace).toContain('Authentication-Results: mx.croft.test;')
  })

  test('may begin its lines with dots', async () => {
    const message = unique('.\r\n..\r\n.a\r\n')
    await using client = await RawSmtp.greeted(port)
    await client.message('ann@a.test', ['info@one.test'], message.replaceAll(/^\./gm, '..'))
    expect((await keptOf(message))[0]?.raw).toBe(message)
  })

  test('longer than what is held in memory is kept too', async () => {
    const message = unique(`${'0123456789abcdef'.repeat(60)}\r\n`.repeat(400))
    await using client = await RawSmtp.greeted(port)
    expect(await client.message('a@a.test', ['info@one.test'], message)).toMatch(/^250 /)
    const [kept] = await keptOf(message)
    expect(kept?.raw === message).toBe(true)
    expect(kept?.sha256).toBe(createHash('sha256').update(message).digest('hex'))
  })

  test.each<[string, readonly string[], readonly string[]]>([
    ['a plus part', ['info+news@one.test'], ['info']],
    ['capitals', ['INFO@ONE.TEST'], ['info']],
    ['quotes', ['"info"@one.test'], ['info']],
    ['letters outside ASCII', ['Jürgen@one.test'], ['jürgen']],
    ['an alias', ['both@one.test'], ['info', 'sales']],
    ['an alias and one of its mailboxes', ['both@one.test', 'info@one.test'], ['info', 'sales']],
    ['the same one twice', ['info@one.test', 'info@one.test'], ['info']],
    ['postmaster of the server', ['postmaster@one.test'], ['postmaster']],
  ])('to %s reaches each mailbox once', async (_what, recipients, mailboxes) => {
    const message = unique()
    await using client = await RawSmtp.greeted(port)
    expect(await client.message('a@a.test', recipients, message)).toMatch(/^250 /)
    expect((await keptOf(message)).map(({ mailbox }) => mailbox)).toEqual(mailboxes)
  })

  test('to two sites is a message of each', async () => {
    const message = unique()
    await using client = await RawSmtp.greeted(port)
    const recipients = ['info@one.test', 'sales@one.test', 'info@two.test']
    expect(await client.message('a@a.test', recipients, message)).toMatch(/^250 /)
    expect((await keptOf(message)).map(({ mailbox }) => mailbox)).toEqual(['info', 'sales'])
    const [other] = await keptOf(message, 'two.test')
    expect(other).toMatchObject({ mailbox: 'info', raw: message })
    expect(other?.trace).toContain('for <info@two.test>')
    expect(other?.trace).not.toContain('one.test')
  })

  test.each(['bücher.test', 'xn--bcher-kva.test', 'BÜCHER.test'])(
    'to a domain outside ASCII arrives, written %s',
    async (domain) => {
      const message = unique()
      await using client = await RawSmtp.greeted(port)
      expect(await client.message('a@a.test', [`info@${domain}`], message)).toMatch(/^250 /)
      expect(await keptOf(message, 'xn--bcher-kva.test')).toHaveLength(1)
    },
  )

  test('from the null sender is taken', async () => {
    const message = unique()
    await using client = await RawSmtp.greeted(port)
    expect(await client.message('', ['info@one.test'], message)).toMatch(/^250 /)
    expect((await keptOf(message))[0]?.envelopeFrom).toBe('')
  })

  test('is the same one when it comes again', async () => {
    const message = unique()
    for (const reply of ['250 2.6.0 accepted', '250 2.6.0 accepted before']) {
      await using client = await RawSmtp.greeted(port)
      expect(await client.message('a@a.test', ['info@one.test'], message)).toBe(reply)
    }
    expect(await keptOf(message)).toHaveLength(1)
    await using client = await RawSmtp.greeted(port)
    const recipients = ['info@one.test', 'sales@one.test']
    expect(await client.message('a@a.test', recipients, message)).toBe('250 2.6.0 accepted')
    expect((await keptOf(message)).map(({ mailbox }) => mailbox)).toEqual(['info', 'sales'])
    expect(await client.message('b@a.test', ['info@one.test'], message)).toBe('250 2.6.0 accepted')
  })

  test('that comes many times at once is one message', async () => {
    const message = unique()
    const replies = await Promise.all(
      Array.from({ length: 10 }, async () => {
        await using client = await RawSmtp.greeted(port)
        return await client.message('a@a.test', ['info@one.test'], message)
      }),
    )
    expect(replies.filter((reply) => reply === '250 2.6.0 accepted')).toHaveLength(1)
    expect(replies.filter((reply) => reply.startsWith('250 '))).toHaveLength(10)
    expect(await keptOf(message)).toHaveLength(1)
  })

  test('whose client dies in the middle is not kept', async () => {
    const message = unique()
    const client = await RawSmtp.greeted(port)
    await client.commands('MAIL FROM:<a@a.test>', 'RCPT TO:<info@one.test>', 'DATA')
    client.write(message)
    await client[Symbol.asyncDispose]()
    await using other = await RawSmtp.greeted(port)
    expect(await other.command('NOOP')).toBe('250 2.0.0 OK')
    expect(await keptOf(message)).toEqual([])
  })

  test('counts in its mailbox and its site', async () => {
    const used = () =>
      stack.inSite('two.test', async (tx) => {
        const mailbox = await tx.db.selectFrom('mailbox').selectAll().executeTakeFirstOrThrow()
        const site = await tx.db.selectFrom('mail_usage').selectAll().executeTakeFirstOrThrow()
        expect([site.used_bytes, site.used_messages]).toEqual([
          mailbox.used_bytes,
          mailbox.used_messages,
        ])
        return [Number(site.used_bytes), Number(site.used_messages)] as const
      })
    const [bytes, messages] = await used()
    const message = unique()
    await using client = await RawSmtp.greeted(port)
    await client.message('a@a.test', ['info@two.test'], message)
    await client.message('a@a.test', ['info@two.test'], message)
    expect(await used()).toEqual([bytes + message.length, messages + 1])
  })
})

describe('refused', () => {
  const tooMany = Array.from({ length: 100 }, (_, index) => `RCPT TO:<info+${index}@one.test>`)
  test.each<[string, readonly string[], string]>([
    ['a sender before EHLO', ['MAIL FROM:<a@a.test>'], '503 5.5.1'],
    ['a recipient before a sender', ['EHLO c', 'RCPT TO:<info@one.test>'], '503 5.5.1'],
    ['DATA before a recipient', ['EHLO c', 'MAIL FROM:<a@a.test>', 'DATA'], '503 5.5.1'],
    ['a second sender', ['EHLO c', 'MAIL FROM:<a@a.test>', 'MAIL FROM:<a@a.test>'], '503 5.5.1'],
    ['a sender that is none', ['EHLO c', 'MAIL FROM:<a@@a.test>'], '501 5.1.7'],
    ['a message too large', ['EHLO c', 'MAIL FROM:<a@a.test> SIZE=400001'], '552 5.3.4'],
    ['an unknown body', ['EHLO c', 'MAIL FROM:<a@a.test> BODY=9BIT'], '501 5.5.4'],
    ['a login', ['EHLO c', 'AUTH PLAIN AGEAYg=='], '500 5.5.2'],
    ['an unknown command', ['EHLO c', 'TURN'], '500 5.5.2'],
    ['chunks', ['EHLO c', 'BDAT 10 LAST'], '500 5.5.2'],
    ['a wizard', ['EHLO c', 'WIZ'], '500 5.5.2'],
    ...(
      [
        ['a domain of another site', 'bob@elsewhere.test', '550 5.7.1'],
        ['a way through this server', 'bob%elsewhere.test@mx.croft.test', '550 5.7.1'],
        ['an address literal', 'bob@[127.0.0.1]', '550 5.7.1'],
        ['an unknown mailbox', 'nobody@one.test', '550 5.1.1'],
        ['a mailbox of the other site', 'sales@two.test', '550 5.1.1'],
        ['a disabled mailbox', 'closed@one.test', '550 5.2.1'],
        ['a full mailbox', 'full@one.test', '452 4.2.2'],
        ['a recipient that is none', 'info', '501 5.1.3'],
      ] as const
    ).map(([what, to, reply]): [string, string[], string] => [
      what,
      ['EHLO c', 'MAIL FROM:<a@a.test>', `RCPT TO:<${to}>`],
      reply,
    ]),
    [
      'one recipient too many',
      ['EHLO c', 'MAIL FROM:<a@a.test>', ...tooMany, 'RCPT TO:<sales@one.test>'],
      '452 4.5.3',
    ],
    [
      'a mailbox with less room than is declared',
      ['EHLO c', 'MAIL FROM:<a@a.test> SIZE=399999', 'RCPT TO:<small@one.test>'],
      '550 5.1.1',
    ],
  ])('is %s', async (_what, commands, reply) => {
    await using client = await RawSmtp.connect(port)
    await client.reply()
    expect((await client.commands(...commands)).slice(0, 9)).toBe(reply)
    expect(await client.command('NOOP')).toBe('250 2.0.0 OK')
  })

  test('is a message that grows too large, when it has come', async () => {
    const message = unique(`${'x'.repeat(98)}\r\n`.repeat(4_100))
    await using client = await RawSmtp.greeted(port)
    expect(await client.message('a@a.test', ['info@one.test'], message)).toBe(
      '552 5.3.4 The message is larger than 400000 bytes',
    )
    expect(await keptOf(message)).toEqual([])
    expect(await client.command('NOOP')).toBe('250 2.0.0 OK')
  })

  test('is a client that goes on sending what is refused', async () => {
    await using client = await RawSmtp.greeted(port)
    await client.commands('MAIL FROM:<a@a.test>', 'RCPT TO:<info@one.test>', 'DATA')
    for (let sent = 0; sent < 1_000_000 && !client.socket.destroyed; sent += 100_000) {
      client.write(`${'x'.repeat(98)}\r\n`.repeat(1000))
    }
    expect(await client.closed()).toBe('closed')
  })

  test('is a message in a loop', async () => {
    const message = `${'Received: by a.test\r\n'.repeat(101)}${unique()}`
    await using client = await RawSmtp.greeted(port)
    expect(await client.message('a@a.test', ['info@one.test'], message)).toMatch(/^554 5\.4\.6 /)
    expect(await keptOf(message)).toEqual([])
  })

  test.each(['\n.\n', '\n.\r\n', '\r.\r', '\r\n.\n', '\r.\r\n', '\r\n.\r', '\n.\r'])(
    'is a message behind the ending %j, and all that it hides',
    async (ending) => {
      const message = unique()
      const hidden = unique()
      const smuggled = `MAIL FROM:<b@a.test>\r\nRCPT TO:<info@one.test>\r\nDATA\r\n${hidden}`
      await using client = await RawSmtp.greeted(port)
      const text = `${message}${ending}${smuggled}`
      expect(await client.message('a@a.test', ['info@one.test'], text)).toMatch(/^554 5\.6\.0 /)
      expect(await client.command('NOOP')).toBe('250 2.0.0 OK')
      expect([...(await keptOf(message)), ...(await keptOf(hidden))]).toEqual([])
    },
  )

  test('leaves no object behind', async () => {
    const { siteId } = await stack.context.sites.find('one.test')
    const { objects } = await stack.context.objects.list({
      prefix: `sites/${siteId}/mail/`,
      maxKeys: 1000,
    })
    const kept = await stack.inSite('one.test', (tx) =>
      tx.db.selectFrom('mail_raw').select('raw_id as rawId').execute(),
    )
    const raws = objects.map(({ key }) => key).filter((key) => !key.includes('/parts/'))
    expect(raws.toSorted()).toEqual(
      kept.map(({ rawId }) => `sites/${siteId}/mail/${rawId}`).toSorted(),
    )
  })
})

describe('a mailbox that fills up', () => {
  test('takes what fits, and no message more', async () => {
    const ann = await new AdminPool(stack, 'one.test').first()
    await makeMailboxes(stack, 'one.test', ['small'])
    await ann.call('PUT', '/mailboxes/small@one.test/settings', { body: { quotaMessages: 3 } })
    const replies = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const message = unique()
        await using client = await RawSmtp.greeted(port)
        return await client.message('a@a.test', ['small@one.test'], message)
      }),
    )
    const full = '452 4.2.2 The mailbox is full: try again later'
    expect(replies.toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => '250 2.6.0 accepted'),
      ...Array.from({ length: 5 }, () => full),
    ])
  })
})

test('nodemailer delivers over STARTTLS', async () => {
  const message = unique()
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    requireTLS: true,
    tls: { rejectUnauthorized: false },
  })
  const envelope = { from: 'ann@a.test', to: ['info@one.test', 'jürgen@one.test'] }
  const { accepted } = await transport.sendMail({ envelope, raw: message })
  transport.close()
  expect(accepted).toEqual(envelope.to)
  const [kept] = await keptOf(message)
  expect(kept?.raw).toBe(message)
  expect(kept?.client).toMatchObject({ protocol: 'ESMTPS', tls: { version: 'TLSv1.3' } })
})
