import { randomBytes } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { MailTransport } from '#platform/smtp/mail-transport.ts'
import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import type { Answer } from '#test/http-client.ts'
import { dnsOf, mailSettings } from '#test/inbound-mail.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'

const MIB = 1024 * 1024
const cleanUp = new AsyncDisposableStack()
let stack: Stack
let smtpPort: number
/** The server of all other domains. */
let elsewhere: SmtpServer
/** Of `one.test` and `two.test`. */
let ann: Member
let anton: Member
let ursula: Member
let stranger: Member

beforeAll(async () => {
  elsewhere = cleanUp.use(await SmtpServer.start())
  const outside = cleanUp.use(new SmtpGateway(`smtp://127.0.0.1:${elsewhere.port}`))
  const inside = Promise.withResolvers<SmtpGateway>()
  // A gateway that brings mail for the sites here back to the port at which they take it.
  const mailTransport: MailTransport = {
    delivers: true,
    send: async (message, signal) => {
      const isOurs = /@(?:one|two)\.test$/.test(message.to)
      await (isOurs ? await inside.promise : outside).send(message, signal)
    },
    verify: () => outside.verify(),
    [Symbol.asyncDispose]: async () => {},
  }
  stack = cleanUp.use(
    await startStack({
      config: { mail: mailSettings() },
      platform: { mailTransport, dns: dnsOf({}) },
    }),
  )
  smtpPort = await stack.context.smtp.start()
  cleanUp.defer(() => stack.context.smtp.drain(1000))
  inside.resolve(cleanUp.use(new SmtpGateway(`smtp://127.0.0.1:${smtpPort}`)))
  const pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  ursula = await pool.joined('user')
  stranger = await pool.joined('user')
  anton = await new AdminPool(stack, 'two.test').first()
  await done(mailboxOf(ann, 'info@one.test', ursula))
  await done(mailboxOf(ann, 'other@one.test', stranger))
  await done(mailboxOf(anton, 'shop@two.test', anton))
})
afterAll(() => cleanUp.disposeAsync())

const mailboxOf = (by: Member, address: string, owner: Member) =>
  by.call('POST', '/mailboxes', { body: { address, owners: [owner.userId] } })

async function done(call: Promise<Answer>): Promise<Answer> {
  const answer = await call
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`)
  return answer
}
const codeOf = ({ status, json }: Answer) => [status, json?.error?.code]

const letter = (more: object = {}) => ({
  mailbox: 'info@one.test',
  to: ['vic@else.test'],
  subject: 'Hello',
  body: 'How are you?',
  ...more,
})
const send = (more: object = {}, by = ursula, headers = {}) =>
  by.call('POST', '/messages/send', { body: letter(more), headers })
const detail = async (by: Member, id: string) =>
  (await done(by.call('GET', `/messages/${id}`))).json

/** The message with that subject, once it is listed and parsed. */
const arrived = (by: Member, mailbox: string, subject: string) =>
  vi.waitFor(
    async () => {
      const { json } = await done(by.call('GET', `/messages?mailbox=${mailbox}&folder=INBOX`))
      const found = json.items.find((item: { subject: string }) => item.subject === subject)
      expect(found, subject).toBeDefined()
      const message = await detail(by, found.id)
      expect(message.parsing).toBe('parsed')
      return message
    },
    { timeout: 20_000, interval: 50 },
  )
const settled = (by: Member, id: string) =>
  vi.waitFor(
    async () => {
      const { deliveries } = await detail(by, id)
      expect(deliveries.map(({ status }: { status: string }) => status)).not.toContain('queued')
      return deliveries
    },
    { timeout: 20_000, interval: 50 },
  )

async function stage(bytes: Buffer, more: object = {}, by = ursula): Promise<string> {
  const body = {
    mailbox: 'info@one.test',
    filename: 'Größe.bin',
    contentType: 'application/x-thing',
    size: bytes.length,
    ...more,
  }
  const { json } = await done(by.call('POST', '/messages/attachments', { body }))
  const { hostname, pathname, search } = new URL(json.upload.url)
  const put = await stack.call(hostname, json.upload.method, pathname + search, {
    body: bytes,
    headers: { ...json.upload.headers, origin: 'https://admin.test' },
  })
  expect([put.status, put.headers['access-control-allow-origin']]).toEqual([200, '*'])
  return json.attachmentRef
}

describe('a conversation of two sites', () => {
  test('goes back and forth, threads on both sides, and carries files as they are', async () => {
    const file = randomBytes(300_000)
    const attachmentRefs = [await stage(file)]
    const subject = 'Größe & Preis 🦓'
    const more = { to: ['Jörg Maß <shop@two.test>'], subject, attachmentRefs, html: '<b>How?</b>' }
    const sent = (await done(send(more))).json
    const there = await arrived(anton, 'shop@two.test', subject)
    expect(there).toMatchObject({
      from: 'info@one.test',
      to: ['Jörg Maß <shop@two.test>'],
      text: expect.stringContaining('How are you?'),
      html: expect.stringContaining('<b>How?</b>'),
      attachments: [{ filename: 'Größe.bin', contentType: 'application/x-thing', size: 300_000 }],
    })
    const body = { body: 'Fine.' }
    const answer = (await done(anton.call('POST', `/messages/${there.id}/reply`, { body }))).json
    expect(answer.threadId).toBe(there.threadId)
    const back = await arrived(ursula, 'info@one.test', `Re: ${subject}`)
    expect(back).toMatchObject({ threadId: sent.threadId, from: 'shop@two.test', seen: false })
    const again = await done(
      ursula.call('POST', `/messages/${back.id}/reply`, { body: { body: 'Good.' } }),
    )
    expect(again.json.threadId).toBe(sent.threadId)
    expect(await detail(ursula, again.json.id)).toMatchObject({
      folder: 'SENT',
      seen: true,
      subject: `Re: ${subject}`,
      to: ['shop@two.test'],
      references: [there.messageId, back.messageId],
    })
    expect(await settled(ursula, sent.id)).toMatchObject([
      { recipient: 'shop@two.test', status: 'sent', attempts: 1 },
    ])
    const { attachments } = await detail(ursula, sent.id)
    expect(attachments).toMatchObject([{ size: 300_000 }])
    const stored = await rawAttachment(there.id)
    expect(stored.equals(file)).toBe(true)
  })

  test('that the mailbox has with itself has no recipient for a reply', async () => {
    await done(send({ to: ['info@one.test'], subject: 'To myself' }))
    const mine = await arrived(ursula, 'info@one.test', 'To myself')
    const answer = await ursula.call('POST', `/messages/${mine.id}/reply`, { body: { body: 'x' } })
    expect(codeOf(answer)).toEqual([400, 'InvalidTarget'])
  })
})

const pathOf = (url: string): string => new URL(url).pathname + new URL(url).search

/** The bytes of the only attachment of a message of `two.test`. */
async function rawAttachment(messageId: string): Promise<Buffer> {
  const { attachments } = await detail(anton, messageId)
  return (await stack.call('two.test', 'GET', pathOf(attachments[0].url))).bytes
}

describe('a message', () => {
  test('reaches every recipient by itself, and shows none of those in bcc', async () => {
    const subject = 'To many'
    const more = { to: ['a@else.test'], cc: ['B <b@else.test>'], bcc: ['c@else.test'], subject }
    const { id } = (await done(send({ ...more, replyTo: 'Desk <desk@else.test>' }))).json
    expect(await settled(ursula, id)).toMatchObject([
      { recipient: 'a@else.test', status: 'sent' },
      { recipient: 'b@else.test', status: 'sent' },
      { recipient: 'c@else.test', status: 'sent' },
    ])
    const copies = elsewhere.messages.filter(({ data }) => data.includes(`Subject: ${subject}`))
    expect(copies.map(({ to }) => to.join(' ')).toSorted()).toEqual([
      'a@else.test',
      'b@else.test',
      'c@else.test',
    ])
    expect(new Set(copies.map(({ data }) => data)).size).toBe(1)
    expect(copies[0]?.from).toBe('info@one.test')
    expect(copies[0]?.data).toMatch(/^DKIM-Signature: v=1; a=rsa-sha256;[^]*? d=one\.test;/)
    expect(copies[0]?.data).not.toContain('c@else.test')
    expect(copies[0]?.data).toMatch(/^Reply-To: Desk <desk@else\.test>\r?$/m)
  })

  test('is sent once for one Idempotency-Key, at once and later', async () => {
    const headers = { 'idempotency-key': 'once' }
    const answers = await Promise.all([
      send({ subject: 'Once' }, ursula, headers),
      send({ subject: 'Once' }, ursula, headers),
    ])
    answers.push(await send({ subject: 'Once' }, ursula, headers))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(codeOf(await send({ subject: 'Other' }, ursula, headers))).toEqual([
      422,
      'IdempotencyKeyReused',
    ])
    await settled(ursula, answers[0]?.json.id)
    const copies = elsewhere.messages.filter(({ data }) => data.includes('Subject: Once'))
    expect(copies).toHaveLength(1)
  })

  test('of another user, of another site, or of a disabled mailbox is refused', async () => {
    expect(codeOf(await send({}, stranger))).toEqual([404, 'MailboxNotFound'])
    expect(codeOf(await send({}, anton))).toEqual([404, 'MailboxNotFound'])
    await done(mailboxOf(ann, 'gone@one.test', ursula))
    await done(ann.call('DELETE', '/mailboxes/gone@one.test'))
    expect(codeOf(await send({ mailbox: 'gone@one.test' }))).toEqual([409, 'MailboxDisabled'])
    const { id } = (await done(send({ subject: 'Mine' }))).json
    const answer = await stranger.call('POST', `/messages/${id}/reply`, { body: { body: 'x' } })
    expect(codeOf(answer)).toEqual([404, 'MessageNotFound'])
  })

  test.each([
    ['to[0]', { to: ['a@else.test\r\nBcc: b@else.test'] }],
    ['to[0]', { to: ['a@else.test, b@else.test'] }],
    ['to[0]', { to: ['a@else.test>\u0000'] }],
    ['to[0]', { to: ['nobody'] }],
    ['to', { to: [] }],
    ['cc[0]', { cc: ['x <a@else.test>\n y'] }],
    ['replyTo', { replyTo: 'a@else.test\r\nX: y' }],
    ['subject', { subject: 'a\r\nBcc: b@else.test' }],
    ['subject', { subject: 'a\u0000' }],
    ['subject', { subject: 'a\u2028b' }],
    ['body', { body: 'a\u0000' }],
    ['html', { html: 'a\u0000' }],
    ['attachments[0].filename', { attachments: [inline({ filename: 'a\r\nX: y' })] }],
    ['attachments[0].contentType', { attachments: [inline({ contentType: 'a/b\r\nX: y' })] }],
    ['attachments[0].contentBase64', { attachments: [inline({ contentBase64: '%%' })] }],
  ])('with a fault in %s is refused: %j', async (field, more) => {
    const answer = await send(more)
    expect(codeOf(answer)).toEqual([400, 'ValidationError'])
    expect(JSON.stringify(answer.json)).toContain(field)
  })

  test('says what it means, with any text', async () => {
    const name = '=?utf-8?q?Bcc:?= \u202Etxt'
    const subject = `${'long '.repeat(150)}=?utf-8?q?=0D=0ABcc:_x?= \u202Eend`.slice(0, 900)
    const body = `.\r\n..\r\nFrom x\n${'y'.repeat(5000)}\rz`
    const attachments = [inline({ filename: '\u202Efdp.exe' })]
    const more = { to: [`"${name}" <odd@else.test>`], subject, body, attachments }
    const { id } = (await done(send(more))).json
    await settled(ursula, id)
    const taken = elsewhere.messages.find(({ to }) => to[0] === 'odd@else.test')
    const [head = ''] = taken?.data.split(/\r?\n\r?\n/) ?? []
    const names = head.split(/\r?\n(?![ \t])/).map((line) => line.split(':', 1).join(''))
    expect(names.toSorted()).toEqual(
      [
        'Content-Type',
        'DKIM-Signature',
        'Date',
        'From',
        'MIME-Version',
        'Message-ID',
        'Subject',
        'To',
      ].toSorted(),
    )
    for (const line of taken?.data.split(/\r?\n/) ?? []) expect(line.length).toBeLessThan(999)
    const shown = await vi.waitFor(async () => {
      const message = await detail(ursula, id)
      expect(message.parsing).toBe('parsed')
      return message
    })
    expect(shown.text).toContain(`From x\n${'y'.repeat(5000)}\nz`)
    expect(shown.attachments).toMatchObject([{ size: 3 }])
  })
})

describe('a message that was composed elsewhere', () => {
  const rawOf = (from: string) =>
    [`From: ${from}`, 'To: list@else.test', 'Bcc: eve@else.test', 'X-Own: yes', '', 'Text'].join(
      '\r\n',
    )
  const more = (raw: string) => ({
    to: ['raw@else.test'],
    subject: '',
    body: undefined,
    raw: Buffer.from(raw).toString('base64'),
  })

  test('goes out with what it lacked, to the recipients that the request names', async () => {
    const { id } = (await done(send(more(rawOf('Info <info@one.test>'))))).json
    await settled(ursula, id)
    const taken = elsewhere.messages.find(({ to }) => to[0] === 'raw@else.test')
    expect(taken?.data).toMatch(/^X-Own: yes\r?$/m)
    expect(taken?.data).toContain(`Message-ID: <${id}@one.test>`)
    expect(taken?.data).not.toContain('eve@else.test')
  })

  test('twice is two messages, unless its key says that it is one', async () => {
    const raw = rawOf('info@one.test').replace(
      'Bcc',
      'Message-ID: <twice@one.test>\r\nDate: x\r\nBcc',
    )
    const key = { 'idempotency-key': 'twice' }
    const ids = []
    for (const headers of [{}, {}, key, key]) {
      ids.push((await done(send(more(raw), ursula, headers))).json.id)
    }
    expect(new Set(ids).size).toBe(3)
    expect(ids[2]).toBe(ids[3])
  })

  test('by another user is refused', async () => {
    expect(codeOf(await send(more(rawOf('ann@one.test'))))).toEqual([400, 'ValidationError'])
    expect(codeOf(await send({ ...more('x'), raw: '%' }))).toEqual([400, 'ValidationError'])
    expect(codeOf(await send({ body: undefined }))).toEqual([400, 'ValidationError'])
  })
})

const inline = (more: object = {}) => ({
  filename: 'a.txt',
  contentType: 'text/plain',
  contentBase64: Buffer.from('abc').toString('base64'),
  ...more,
})

describe('attachments', () => {
  test('are bounded to the byte, each bound with a code of its own', async () => {
    const asked = (size: number) =>
      ursula.call('POST', '/messages/attachments', {
        body: { mailbox: 'info@one.test', filename: 'a', contentType: 'a/b', size },
      })
    expect((await asked(10 * MIB)).status).toBe(200)
    expect(codeOf(await asked(10 * MIB + 1))).toEqual([413, 'AttachmentTooLarge'])
    const eleven = Array.from({ length: 11 }, () => inline())
    expect(codeOf(await send({ attachments: eleven }))).toEqual([400, 'TooManyAttachments'])
    const large = await stage(randomBytes(10 * MIB))
    const half = await stage(randomBytes(5 * MIB))
    const over = inline({ contentBase64: 'eA==' })
    const tooMuch = await send({ attachmentRefs: [large, half], attachments: [over] })
    expect(codeOf(tooMuch)).toEqual([413, 'AttachmentsTooLarge'])
    const { id } = (await done(send({ attachmentRefs: [large, half], subject: 'Full' }))).json
    await settled(ursula, id)
    expect(elsewhere.messages.some(({ data }) => data.includes('Subject: Full'))).toBe(true)
  })

  test('make no message larger than 25 MiB', async () => {
    const refs = [await stage(randomBytes(10 * MIB)), await stage(randomBytes(5 * MIB))]
    // 2 MiB of what takes six bytes a letter.
    const body = 'ü'.repeat(2 * MIB)
    const answer = await send({ attachmentRefs: refs, body, subject: 'Too large' })
    expect(codeOf(answer)).toEqual([413, 'MessageTooLarge'])
    // Nothing was used up.
    expect((await send({ attachmentRefs: refs, subject: 'Not too large' })).status).toBe(200)
  })

  test('are used up by the first of several messages', async () => {
    const ref = await stage(Buffer.from('abc'))
    const answers = await Promise.all([1, 2, 3].map(() => send({ attachmentRefs: [ref] })))
    expect(answers.map(({ status }) => `${status}`).toSorted()).toEqual(['200', '400', '400'])
    expect(codeOf(await send({ attachmentRefs: [ref] }))).toEqual([400, 'InvalidAttachmentRef'])
  })

  test('of another mailbox or site, or that were not uploaded, are none', async () => {
    const other = await stage(Buffer.from('abc'), { mailbox: 'other@one.test' }, stranger)
    const theirs = await stage(Buffer.from('abc'), { mailbox: 'shop@two.test' }, anton).catch(
      () => 'stg_unknown',
    )
    const body = { mailbox: 'info@one.test', filename: 'a', contentType: 'a/b', size: 1 }
    const { json } = await done(ursula.call('POST', '/messages/attachments', { body }))
    for (const ref of [other, theirs, json.attachmentRef, 'stg_0000000000000000']) {
      const answer = await send({ attachmentRefs: [ref] })
      expect(codeOf(answer)).toEqual([400, 'InvalidAttachmentRef'])
    }
  })
})

test('a mailbox has at most 100 attachments that wait', async () => {
  await done(mailboxOf(ann, 'hoarder@one.test', ursula))
  const body = { mailbox: 'hoarder@one.test', filename: 'a', contentType: 'a/b', size: 1 }
  const staging = Array.from({ length: 100 }, () =>
    ursula.call('POST', '/messages/attachments', { body }),
  )
  for (const { status } of await Promise.all(staging)) expect(status).toBe(200)
  const answer = await ursula.call('POST', '/messages/attachments', { body })
  expect(codeOf(answer)).toEqual([429, 'TooManyRequests'])
})

describe('an address that does not exist', () => {
  test('is shown at the message, and gets no more mail until it is taken from the list', async () => {
    elsewhere.answer = (verb, line) =>
      verb === 'RCPT' && line.includes('nobody@') ? '550 5.1.1 no such user' : undefined
    const to = ['nobody@else.test', 'somebody@else.test']
    const { id } = (await done(send({ to }))).json
    expect(await settled(ursula, id)).toMatchObject([
      { recipient: 'nobody@else.test', status: 'failed', reply: expect.stringContaining('5.1.1') },
      { recipient: 'somebody@else.test', status: 'sent' },
    ])
    const second = (await done(send({ to: ['Nobody@else.test'] }))).json
    expect(await settled(ursula, second.id)).toMatchObject([
      { recipient: 'Nobody@else.test', status: 'suppressed', attempts: 0 },
    ])
    const list = async (by: Member) => (await by.call('GET', '/mail-suppressions')).json.items
    expect(await list(ann)).toMatchObject([{ address: 'nobody@else.test', reason: 'BOUNCE' }])
    expect(await list(anton)).toEqual([])
    const remove = (by: Member) => by.call('DELETE', '/mail-suppressions/nobody@else.test')
    expect(codeOf(await remove(ursula))).toEqual([403, 'Forbidden'])
    expect(codeOf(await remove(anton))).toEqual([404, 'SuppressionNotFound'])
    expect((await remove(ann)).status).toBe(204)
    elsewhere.answer = () => undefined
    const third = (await done(send({ to: ['nobody@else.test'] }))).json
    expect(await settled(ursula, third.id)).toMatchObject([{ status: 'sent' }])
  })

  test('is reported by a bounce that comes later', async () => {
    const { id } = (await done(send({ to: ['late@else.test'], subject: 'Late' }))).json
    await settled(ursula, id)
    const { messageId } = await detail(ursula, id)
    await using gateway = new SmtpGateway(`smtp://127.0.0.1:${smtpPort}`)
    const bounce = (recipient: string, original: string) =>
      gateway.send(
        {
          messageId: 'x',
          siteId: '',
          siteDomain: '',
          kind: '',
          from: 'mailer-daemon@else.test',
          to: 'info@one.test',
          subject: '',
          text: '',
          html: '',
          createdAt: new Date(),
          mime: Buffer.from(bounceOf(recipient, original)),
        },
        new AbortController().signal,
      )
    await bounce('late@else.test', 'forged@one.test')
    await bounce('late@else.test', messageId)
    const bounced = await vi.waitFor(
      async () => {
        const { deliveries } = await detail(ursula, id)
        expect(deliveries).toMatchObject([{ status: 'bounced' }])
        return deliveries
      },
      { timeout: 20_000, interval: 50 },
    )
    expect(bounced[0].reply).toContain('5.1.1')
  })
})

const bounceOf = (recipient: string, original: string): string =>
  [
    'From: Mail Delivery System <mailer-daemon@else.test>',
    'To: info@one.test',
    `Subject: Undelivered ${original}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'It could not be delivered.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.else.test',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    'Action: failed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 no such user',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    `Message-ID: <${original}>`,
    'Subject: Late',
    '--b--',
    '',
  ].join('\r\n')
