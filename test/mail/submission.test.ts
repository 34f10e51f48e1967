import { randomBytes } from 'node:crypto'

import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { RawSmtp, dnsOf, mailSettings, makeMailboxes } from '#test/inbound-mail.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATIENCE = { timeout: 20_000, interval: 20 }
const cleanUp = new AsyncDisposableStack()
let now = new Date()
let stack: Stack
let port: number
/** The server of all other domains. */
let elsewhere: SmtpServer
let ann: Member
let anton: Member
let ursula: Member
/** Of `info@one.test`. */
let usual: Credential

beforeAll(async () => {
  elsewhere = cleanUp.use(await SmtpServer.start())
  const mailTransport = cleanUp.use(new SmtpGateway(`smtp://127.0.0.1:${elsewhere.port}`))
  stack = cleanUp.use(
    await startStack({
      config: { mail: mailSettings() },
      platform: { mailTransport, dns: dnsOf({}), clock: { now: () => now } },
    }),
  )
  port = await stack.context.submission.start()
  cleanUp.defer(() => stack.context.submission.drain(1000))
  const pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  ursula = await pool.joined('user')
  anton = await new AdminPool(stack, 'two.test').first()
  await makeMailboxes(stack, 'one.test', ['other'])
  await makeMailboxes(stack, 'two.test', ['shop'])
  const body = { address: 'info@one.test', owners: [ursula.userId] }
  await ann.call('POST', '/mailboxes', { body })
  usual = await credential()
})
afterAll(() => cleanUp.disposeAsync())

interface Credential {
  readonly credentialId: string
  readonly username: string
  readonly password: string
}
const pathOf = (address: string, rest = '') => `/mailboxes/${address}/submission-credentials${rest}`

async function credential(by = ursula, address = 'info@one.test'): Promise<Credential> {
  const made = await by.call('POST', pathOf(address), { body: { name: 'A mail program' } })
  if (made.status !== 200) throw new Error(made.text)
  return made.json
}
const plain = ({ username, password }: Omit<Credential, 'credentialId'>): string =>
  `AUTH PLAIN ${Buffer.from(`\0${username}\0${password}`).toString('base64')}`

async function loggedIn(login: Credential): Promise<RawSmtp> {
  const client = await RawSmtp.secured(port)
  expect(await client.command(plain(login))).toBe('235 2.7.0 Authentication successful')
  return client
}

let made = 0
const letter = (more: Readonly<Record<string, string>> = {}, body = 'Dear Größe,\r\n'): string => {
  const fields = {
    From: 'Ursula <info@one.test>',
    To: 'vic@else.test',
    Subject: `Number ${++made}`,
    'Message-ID': `<${made}@laptop.test>`,
    Date: 'Sun, 1 Mar 2026 12:00:00 +0000',
    ...more,
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${lines.join('')}\r\n${body}`
}
const subjectOf = (message: string): string => /Subject: (.*)\r\n/.exec(message)?.[1] ?? ''
const taken = (subject: string) =>
  vi.waitFor(() => {
    const found = elsewhere.messages.filter(({ data }) => data.includes(`Subject: ${subject}\r\n`))
    expect(found, subject).not.toHaveLength(0)
    return found
  }, PATIENCE)
const sentOf = async (subject: string, mailbox = 'info@one.test') => {
  const { json } = await ann.call('GET', `/messages?mailbox=${mailbox}&folder=SENT&limit=50`)
  return json.items.filter((item: { subject: string }) => item.subject === subject)
}

describe('a mail program', () => {
  test('lists its extensions, and logs in over TLS alone', async () => {
    await using client = await RawSmtp.connect(port)
    expect(await client.reply()).toBe('220 mx.croft.test ESMTP ready')
    const before = await client.command('EHLO client.test')
    expect(before).toContain('STARTTLS')
    expect(before).not.toContain('AUTH')
    const login = await credential()
    expect(await client.command(plain(login))).toMatch(/^538 /)
    expect(await client.command('MAIL FROM:<info@one.test>')).toMatch(/^530 5\.7\.0 /)
    await client.startTls()
    const offered = await client.command('EHLO client.test')
    expect(offered).toContain('250-AUTH PLAIN LOGIN')
    expect(offered).toContain(`250 SIZE ${25 * 1024 * 1024}`)
    expect(await client.command('MAIL FROM:<info@one.test>')).toMatch(/^530 5\.7\.0 /)
    expect(await client.command(plain(login))).toMatch(/^235 /)
  })

  test('sends, as Thunderbird does', async () => {
    const login = await credential()
    const message = letter({ Bcc: 'secret@else.test' })
    await using client = await RawSmtp.secured(port)
    expect(await client.command(plain(login))).toMatch(/^235 2\.7\.0 /)
    const size = Buffer.byteLength(message)
    for (const [command, reply] of [
      [`MAIL FROM:<info@one.test> BODY=8BITMIME SIZE=${size}`, /^250 /],
      ['RCPT TO:<vic@else.test>', /^250 /],
      ['RCPT TO:<secret@else.test>', /^250 /],
      ['DATA', /^354 /],
    ] as const) {
      expect(await client.command(command)).toMatch(reply)
    }
    client.write(message)
    expect(await client.command('.')).toBe('250 2.6.0 accepted')
    expect(await client.command('QUIT')).toMatch(/^221 /)
    const subject = subjectOf(message)
    await vi.waitFor(async () => expect(await taken(subject)).toHaveLength(2), PATIENCE)
    const found = await taken(subject)
    expect(found.map(({ from }) => from)).toEqual(['info@one.test', 'info@one.test'])
    expect(found.flatMap(({ to }) => to).toSorted((one, two) => (one < two ? -1 : 1))).toEqual([
      'secret@else.test',
      'vic@else.test',
    ])
    const data = found[0]?.data ?? ''
    expect(data).toMatch(/^DKIM-Signature: /)
    expect(data).toContain(message.replace('Bcc: secret@else.test\r\n', '').trimEnd())
    expect(data).not.toContain('secret')
    const [sent] = await sentOf(subject)
    const { json } = await ursula.call('GET', `/messages/${sent.id}`)
    expect(json).toMatchObject({ folder: 'SENT', seen: true, from: 'Ursula <info@one.test>' })
    await vi.waitFor(async () => {
      const { deliveries } = (await ursula.call('GET', `/messages/${sent.id}`)).json
      expect(deliveries).toMatchObject([{ status: 'sent' }, { status: 'sent' }])
    }, PATIENCE)
  })

  test('may use LOGIN, and gives its files byte for byte', async () => {
    const { username: user, password: pass } = await credential()
    const file = randomBytes(2_000_000)
    const transport = createTransport({
      host: '127.0.0.1',
      port,
      requireTLS: true,
      tls: { rejectUnauthorized: false },
      auth: { user, pass },
      authMethod: 'LOGIN',
    })
    const subject = `Größe & Preis ${++made}`
    await transport.sendMail({
      from: 'Ursula <info@one.test>',
      to: 'Jörg Maß <vic@else.test>',
      subject,
      text: 'How are you?',
      attachments: [{ filename: 'Größe.bin', content: file }],
    })
    const [sent] = await vi.waitFor(async () => {
      const found = await sentOf(subject)
      expect(found[0]?.hasAttachments).toBe(true)
      return found
    }, PATIENCE)
    const { json } = await ursula.call('GET', `/messages/${sent.id}`)
    const [attachment] = json.attachments
    const { hostname, pathname, search } = new URL(attachment.url)
    const got = await stack.call(hostname, 'GET', pathname + search)
    expect(attachment).toMatchObject({ filename: 'Größe.bin', size: file.length })
    expect(got.bytes.equals(file)).toBe(true)
  })

  test('that lost our answer sends again, and the message goes once', async () => {
    const message = letter()
    await using client = await loggedIn(usual)
    const from = 'info@one.test'
    expect(await client.message(from, ['vic@else.test'], message)).toBe('250 2.6.0 accepted')
    expect(await client.message(from, ['vic@else.test'], message)).toBe('250 2.6.0 accepted before')
    // To others it is another one.
    expect(await client.message(from, ['val@else.test'], message)).toBe('250 2.6.0 accepted')
    await vi.waitFor(async () => expect(await taken(subjectOf(message))).toHaveLength(2), PATIENCE)
    expect(await sentOf(subjectOf(message))).toHaveLength(2)
  })

  test('need not say when and as what it wrote', async () => {
    await using client = await loggedIn(usual)
    const subject = `Number ${++made}`
    const message = `From: info+news@one.test\r\nSubject: ${subject}\r\n\r\nText\r\n`
    expect(await client.message('info+news@one.test', ['vic@else.test'], message)).toMatch(/^250/)
    const [found] = await taken(subject)
    expect(found?.data).toMatch(/\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000\r\n/)
    expect(found?.data).toMatch(/\r\nMessage-ID: <msg_\w+@one\.test>\r\n/)
  })
})

describe('no client gets in', () => {
  test.each([
    ['a wrong password', (login: Credential) => ({ ...login, password: 'x'.repeat(43) })],
    ['an empty password', (login: Credential) => ({ ...login, password: '' })],
    [
      'another mailbox of the site',
      (login: Credential) => ({ ...login, username: 'other@one.test' }),
    ],
    ['a mailbox of another site', (login: Credential) => ({ ...login, username: 'shop@two.test' })],
    ['an unknown mailbox', (login: Credential) => ({ ...login, username: 'nobody@one.test' })],
    ['an unknown domain', (login: Credential) => ({ ...login, username: 'info@else.test' })],
    ['no domain', (login: Credential) => ({ ...login, username: 'info' })],
    ['no name', (login: Credential) => ({ ...login, username: '' })],
  ])('with %s', async (_, change) => {
    const login = await credential()
    await using client = await RawSmtp.secured(port)
    expect(await client.command(plain(change(login)))).toBe(
      '535 5.7.8 The user name or the password is wrong',
    )
    await ursula.call('DELETE', pathOf('info@one.test', `/${login.credentialId}`))
  })

  test('with a password that was ended, nor goes on with it', async () => {
    const login = await credential()
    await using client = await loggedIn(login)
    const remove = () => ursula.call('DELETE', pathOf('info@one.test', `/${login.credentialId}`))
    expect((await remove()).status).toBe(204)
    expect((await remove()).json.error.code).toBe('CredentialNotFound')
    expect(await client.command('MAIL FROM:<info@one.test>')).toMatch(/^421 4\.7\.0 /)
    await using again = await RawSmtp.secured(port)
    expect(await again.command(plain(login))).toMatch(/^535 /)
  })

  test('with the password of a former owner of the mailbox', async () => {
    await makeMailboxes(stack, 'one.test', ['left'])
    const body = { owners: [ursula.userId] }
    await ann.call('POST', '/mailboxes/left@one.test/owners', { body })
    const login = await credential(ursula, 'left@one.test')
    await using client = await loggedIn(login)
    await ann.call('DELETE', '/mailboxes/left@one.test/owners', { body })
    expect(await client.command('MAIL FROM:<left@one.test>')).toMatch(/^421 /)
    await using again = await RawSmtp.secured(port)
    expect(await again.command(plain(login))).toMatch(/^535 /)
  })

  test('while the mailbox is disabled', async () => {
    await makeMailboxes(stack, 'one.test', ['closing'])
    const login = await credential(ann, 'closing@one.test')
    await using client = await loggedIn(login)
    await ann.call('DELETE', '/mailboxes/closing@one.test')
    expect(await client.command('MAIL FROM:<closing@one.test>')).toMatch(/^421 /)
    await using again = await RawSmtp.secured(port)
    expect(await again.command(plain(login))).toMatch(/^535 /)
    const refused = await ann.call('POST', pathOf('closing@one.test'), { body: { name: 'x' } })
    expect(refused.json.error.code).toBe('MailboxDisabled')
  })

  test('with a login that was sent in the clear behind STARTTLS', async () => {
    await using client = await RawSmtp.greeted(port)
    client.write(`STARTTLS\r\n${plain(usual)}\r\n`)
    expect(await client.reply()).toMatch(/^220 /)
    await client.secure().catch(() => undefined)
    expect(await client.command('MAIL FROM:<info@one.test>').catch(() => '')).not.toMatch(/^2/)
  })

  test('who sends all commands at once: each is answered in turn, and nothing before its login', async () => {
    await using client = await RawSmtp.secured(port)
    client.write(
      `MAIL FROM:<info@one.test>\r\nRCPT TO:<vic@else.test>\r\n${plain(usual)}\r\nRCPT TO:<vic@else.test>\r\n`,
    )
    const replies = [await client.reply(), await client.reply()]
    replies.push(await client.reply(), await client.reply())
    expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['530', '530', '235', '503'])
  })

  test('after three wrong passwords on a connection', async () => {
    await using client = await RawSmtp.secured(port)
    const wrong = plain({ username: 'info@one.test', password: 'wrong' })
    expect(await client.command(wrong)).toMatch(/^535 /)
    expect(await client.command(wrong)).toMatch(/^535 /)
    expect(await client.command(wrong)).toMatch(/^421 4\.7\.0 /)
  })
})

describe('who is in', () => {
  test('sends as the mailbox and as no other', async () => {
    await using client = await loggedIn(usual)
    for (const sender of [
      'other@one.test',
      'info@two.test',
      'shop@two.test',
      'eve@else.test',
      '',
    ]) {
      expect(await client.command(`MAIL FROM:<${sender}>`)).toMatch(/^553 5\.7\.1 /)
    }
    expect(await client.command('MAIL FROM:<INFO@One.test>')).toMatch(/^250 /)
  })

  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['another author', { From: 'other@one.test' }, ''],
    ['two authors', { From: 'info@one.test, eve@else.test' }, ''],
    ['a second From', {}, 'From: eve@else.test\r\n'],
    ['another sender', { Sender: 'eve@else.test' }, ''],
    ['an author in a comment', { From: '(info@one.test) eve@else.test' }, ''],
    ['an encoded author', { From: '=?utf-8?q?info=40one.test?= <eve@else.test>' }, ''],
    ['a folded author', { From: 'info@one.test,\r\n eve@else.test' }, ''],
    ['no field', {}, 'nothing\r\n'],
    ['NUL in a name', {}, 'Sub\0ject: x\r\n'],
  ])('sends no message with %s', async (_, fields, before) => {
    await using client = await loggedIn(usual)
    const message = before + letter(fields)
    expect(await client.message('info@one.test', ['vic@else.test'], message)).toMatch(/^5[05]\d /)
    expect(await sentOf(subjectOf(message))).toEqual([])
  })

  test('sends no message with half a line end, nor hides a second one behind it', async () => {
    await using client = await loggedIn(usual)
    for (const ending of ['\n.\r\n', '\r\n.\n', '\r.\r', '\n.\n']) {
      const message = letter({}, `Text${ending}MAIL FROM:<eve@else.test>\r\n`)
      expect(await client.message('info@one.test', ['vic@else.test'], message)).toMatch(/^554 /)
    }
  })

  test('names a hundred recipients that are addresses, and no more', async () => {
    await makeMailboxes(stack, 'one.test', ['crowd'])
    await using client = await loggedIn(await credential(ann, 'crowd@one.test'))
    await client.command('MAIL FROM:<crowd@one.test>')
    for (const wrong of [
      'vic',
      'vic@',
      '@else.test',
      'a b@else.test',
      `${'x'.repeat(65)}@b.test`,
    ]) {
      expect(await client.command(`RCPT TO:<${wrong}>`)).toMatch(/^5\d\d /)
    }
    for (let count = 0; count < 100; count += 1) {
      expect(await client.command(`RCPT TO:<vic-${count}@else.test>`)).toMatch(/^250 /)
    }
    expect(await client.command('RCPT TO:<VIC-0@else.test>')).toMatch(/^250 /)
    expect(await client.command('RCPT TO:<one-more@else.test>')).toMatch(/^452 4\.5\.3 /)
  })

  test('gets an error when a message is too large, before and after it is sent', async () => {
    await using client = await loggedIn(usual)
    const most = 25 * 1024 * 1024
    expect(await client.command(`MAIL FROM:<info@one.test> SIZE=${most + 1}`)).toMatch(/^552 /)
    const line = `${'0123456789abcdef'.repeat(60)}\r\n`
    const message = letter({}, line.repeat(Math.ceil(most / line.length)))
    const reply = await client.message('info@one.test', ['vic@else.test'], message)
    expect(reply).toMatch(/^552 5\.3\.4 /)
    expect(await sentOf(subjectOf(message))).toEqual([])
  })

  test('sends to so many recipients a minute', async () => {
    await makeMailboxes(stack, 'one.test', ['busy'])
    await using client = await loggedIn(await credential(ann, 'busy@one.test'))
    for (const [first, last] of [
      [0, 60],
      [60, 120],
    ] as const) {
      await client.command('RSET')
      expect(await client.command('MAIL FROM:<busy@one.test>')).toMatch(/^250 /)
      for (let count = first; count < last; count += 1) {
        expect(await client.command(`RCPT TO:<p${count}@else.test>`)).toMatch(/^250 /)
      }
    }
    expect(await client.command('RCPT TO:<late@else.test>')).toMatch(/^450 4\.7\.1 /)
    // One that was counted is not counted again.
    expect(await client.command('RCPT TO:<P119@else.test>')).toMatch(/^250 /)
  })
})

describe('passwords', () => {
  test('are for owners and admins, shown once, and known by their names', async () => {
    const stranger = await new AdminPool(stack, 'one.test').joined('user')
    await makeMailboxes(stack, 'one.test', ['names'])
    const address = 'names@one.test'
    const create = (by: Member, body: unknown = { name: 'Laptop' }) =>
      by.call('POST', pathOf(address), { body })
    for (const by of [stranger, ursula]) {
      expect((await create(by)).json.error.code).toBe('MailboxNotFound')
      expect((await by.call('GET', pathOf(address))).json.error.code).toBe('MailboxNotFound')
    }
    expect((await anton.call('GET', pathOf(address))).json.error.code).toBe('MailboxNotFound')
    for (const body of [{}, { name: '' }, { name: 'x'.repeat(101) }, { name: 'a\nb' }, { no: 1 }]) {
      expect((await create(ann, body)).status).toBe(400)
    }
    const { json } = await create(ann)
    expect(json).toMatchObject({
      mailbox: address,
      username: address,
      name: 'Laptop',
      server: { host: 'mx.croft.test', security: 'STARTTLS' },
      password: expect.stringMatching(/^croft_[\w-]{43}$/),
    })
    const list = await ann.call('GET', pathOf(address))
    expect(list.text).not.toContain(json.password)
    expect(list.json.items).toMatchObject([{ name: 'Laptop', lastUsedAt: null }])
    await using client = await loggedIn(json)
    expect(await client.command('QUIT')).toMatch(/^221/)
    const used = (await ann.call('GET', pathOf(address))).json.items[0].lastUsedAt
    expect(used).toBe(now.toISOString())
    now = new Date(now.getTime() + 60_000)
    await using again = await loggedIn(json)
    expect((await ann.call('GET', pathOf(address))).json.items[0].lastUsedAt).toBe(used)
    expect(await again.command('QUIT')).toMatch(/^221/)
  })

  test('are twenty at most, also when they are asked for at once', async () => {
    await makeMailboxes(stack, 'one.test', ['many'])
    const asked = await Promise.all(
      Array.from({ length: 25 }, () =>
        ann.call('POST', pathOf('many@one.test'), { body: { name: 'x' } }),
      ),
    )
    expect(asked.filter(({ status }) => status === 200)).toHaveLength(20)
    const codes = asked.filter(({ status }) => status !== 200).map(({ json }) => json.error.code)
    expect(new Set(codes)).toEqual(new Set(['TooManyCredentials']))
  })

  test('go with their mailbox', async () => {
    await makeMailboxes(stack, 'one.test', ['going'])
    const login = await credential(ann, 'going@one.test')
    await ann.call('DELETE', '/mailboxes/going@one.test')
    await ann.call('POST', '/mailboxes/going@one.test/purge', { body: { confirm: true } })
    await makeMailboxes(stack, 'one.test', ['going'])
    await using client = await RawSmtp.secured(port)
    expect(await client.command(plain(login))).toMatch(/^535 /)
  })
})

test('a network that has failed thirty times waits, also with a good password', async () => {
  const wrong = plain({ username: 'info@one.test', password: 'wrong' })
  const tryOnce = async (): Promise<string> => {
    await using client = await RawSmtp.secured(port)
    return await client.command(wrong)
  }
  const replies: string[] = []
  while (replies.length < 35 && !replies.at(-1)?.startsWith('421')) replies.push(await tryOnce())
  expect(replies.at(-1)).toMatch(/^421 4\.7\.0 Too many failed logins from your network/)
  expect(replies.length).toBeGreaterThan(5)
  await using client = await RawSmtp.secured(port)
  expect(await client.command(plain(usual))).toMatch(/^421 /)
})
