import PostalMime from 'postal-mime'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { SmtpServer, type TakenMessage } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'

const TO = 'bob@example.org'
const PATIENCE = { timeout: 20_000, interval: 20 }

/** What each field is given, with what it must be read as in a line; itself where that is left out. */
const PAYLOADS: readonly (readonly [what: string, text: string, line?: string])[] = [
  ['CRLF and a header', 'x\r\nBcc: eve@evil.test', 'x Bcc: eve@evil.test'],
  ['LF and a header', 'x\nBcc: eve@evil.test', 'x Bcc: eve@evil.test'],
  ['CR and a header', 'x\rBcc: eve@evil.test', 'x Bcc: eve@evil.test'],
  ['a folded header', 'x\r\n\tBcc: eve@evil.test', 'x Bcc: eve@evil.test'],
  ['an empty line', 'x\r\n\r\n<b>bold</b>', 'x <b>bold</b>'],
  [
    'the end of the data',
    'x\r\n.\r\nMAIL FROM:<eve@evil.test>\r\n',
    'x . MAIL FROM:<eve@evil.test>',
  ],
  ['the end of the data in LF', 'x\n.\nRCPT TO:<eve@evil.test>', 'x . RCPT TO:<eve@evil.test>'],
  ['line separators', 'x\u2028Bcc: a\u2029b\u0085c\vd\fe', 'x Bcc: a b c d e'],
  ['NUL', 'x\0y', 'xy'],
  ['terminal escapes', 'x\u001b[2Jy\u0007', 'x[2Jy'],
  ['an encoded word', '=?utf-8?Q?=0D=0ABcc:_eve=40evil.test?='],
  ['an encoded word in base64', '=?utf-8?B?DQpCY2M6IGV2ZUBldmlsLnRlc3Q=?='],
  ['marks that turn text', 'a\u202etxt.exe\u202c\u2066b\u2069\u200f\u061cc', 'atxt.exebc'],
  ['half of a pair', 'x\ud800y', 'x\ufffdy'],
  ['a script', '<script>alert(1)</script><img src=x onerror=alert(1)>'],
  ['quotes and entities', `"'&lt;&#0;</td></table>`],
  ['letters of other scripts', 'Größe 漢字 שלום 👩‍💻'],
  ['a long word', 'w'.repeat(200)],
  ['a long word outside ASCII', 'ü'.repeat(200)],
  [
    'what ends a part',
    '--=_boundary--\r\nContent-Type: text/html',
    '--=_boundary-- Content-Type: text/html',
  ],
]

let server: SmtpServer
let stack: Stack
let names: readonly string[]
const resources = new AsyncDisposableStack()
beforeAll(async () => {
  server = resources.use(await SmtpServer.start())
  const mailTransport = resources.use(new SmtpGateway(`smtp://127.0.0.1:${server.port}`))
  const config = { trustedProxies: ['127.0.0.1'] }
  stack = resources.use(
    await startStack({ sites: ['one.test'], platform: { mailTransport }, config }),
  )
  await stack.portal('POST', '/sites/one.test/contact-recipients', { recipients: [TO] })
  names = headersOf(await delivered({ subject: 'Plain', name: 'Vic' })).map(nameOf)
})
afterAll(() => resources.disposeAsync())

let networks = 0
/** Posts it, and waits for the message that the gateway is handed. */
async function delivered(fields: Readonly<Record<string, unknown>>): Promise<TakenMessage> {
  const answer = await stack.call('one.test', 'POST', '/admin/public/contact', {
    body: { email: 'vic@example.org', message: 'Hello', ...fields },
    headers: { 'x-forwarded-for': `2001:db8:${(++networks).toString(16)}::1` },
  })
  expect(answer.status, answer.text).toBe(200)
  const { messageId } = answer.json
  return vi.waitFor(() => {
    const message = server.messages.find(({ data }) => data.includes(messageId))
    if (message === undefined) throw new Error('It has not come')
    return message
  }, PATIENCE)
}

/** Unfolded. */
const headersOf = ({ data }: TakenMessage): string[] =>
  data
    .slice(0, data.indexOf('\r\n\r\n'))
    .replaceAll(/\r\n(?=[ \t])/g, '')
    .split('\r\n')
const nameOf = (header: string): string => header.slice(0, header.indexOf(':'))

/** What holds of every message, whatever was filled in. */
function expectWhole(message: TakenMessage): void {
  expect(message.from).toBe('no-reply@one.test')
  expect(message.to).toEqual([TO])
  expect(message.data.replaceAll('\r\n', '')).not.toMatch(/[^\x20-\x7e\t]/)
  for (const line of message.data.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
  expect(headersOf(message).map(nameOf)).toEqual(names)
  expect(headersOf(message)).toContain('Reply-To: vic@example.org')
  const [, boundary = '?'] = /boundary="([^"]+)"/.exec(message.data) ?? []
  const borders = message.data.split('\r\n').filter((line) => line.startsWith(`--${boundary}`))
  expect(borders).toEqual([`--${boundary}`, `--${boundary}`, `--${boundary}--`])
}

const FIELDS = ['name', 'phone', 'subject', 'message', 'value'] as const
type Field = (typeof FIELDS)[number]

const filled = (field: Field, text: string): Readonly<Record<string, unknown>> =>
  field === 'value' ? { metadata: { page: text } } : { [field]: text }
const payloadsFor = (field: Field) =>
  PAYLOADS.filter(([, text]) => field !== 'phone' || text.length <= 40)

test.each(FIELDS)(
  '%s cannot become anything else, and is read as it was written',
  async (field) => {
    for (const [what, text, line = text] of payloadsFor(field)) {
      const message = await delivered(filled(field, text))
      expectWhole(message)
      const mail = await PostalMime.parse(message.data)
      expect([mail.attachments.length, mail.bcc, mail.replyTo?.[0]?.address], what).toEqual([
        0,
        undefined,
        'vic@example.org',
      ])
      expect(mail.html, what).not.toMatch(/<(?:script|img|b)\b/)
      const shown = (mail.text ?? '').replaceAll(/\s+/g, ' ')
      expect(shown, what).toContain(line)
    }
  },
)

test('a subject is read as it was written, and never decoded', async () => {
  for (const [what, text, line = text] of PAYLOADS) {
    const { subject } = await PostalMime.parse((await delivered({ subject: text })).data)
    expect(subject, what).toBe(`Contact form: ${line}`.replaceAll('=?', '= ?'))
  }
})

test('the lines of a message stay, in text and in HTML', async () => {
  const message = 'Dear all,\r\n\r\n.\r\n..two\rFrom here\n\tindented'
  const taken = await delivered({ message })
  expectWhole(taken)
  const { text, html } = await PostalMime.parse(taken.data)
  const lines = 'Dear all,\n\n.\n..two\nFrom here\n\tindented'
  expect(text?.trimEnd().replaceAll('\r\n', '\n').endsWith(lines)).toBe(true)
  expect(html?.replaceAll('\r\n', '\n')).toContain(`>${lines}</div>`)
})

test('keys of metadata pass for no other field, and show what they hold', async () => {
  const metadata = {
    Email: 'ceo@example.org',
    '</td><b>': '<b>',
    ['__proto__']: 'x',
    '=?a?Q?b?=': 'y',
  }
  const body = JSON.parse(
    `{"metadata":{"Email":"ceo@example.org","</td><b>":"<b>","__proto__":"x","=?a?Q?b?=":"y"}}`,
  )
  const taken = await delivered(body)
  expectWhole(taken)
  const { text = '', html = '' } = await PostalMime.parse(taken.data)
  for (const [key, value] of Object.entries(metadata)) {
    expect(text).toContain(`metadata.${key}: ${value}`)
  }
  expect(text.match(/^Email: /gm)).toHaveLength(1)
  expect(html).not.toContain('<b>')
})

test('a name outside ASCII is in the subject when there is no other', async () => {
  const { subject } = await PostalMime.parse((await delivered({ name: 'Jürgen =?x' })).data)
  expect(subject).toBe('Contact form: message from Jürgen = ?x')
})

test('an address outside ASCII is answered where every mail server can carry it', async () => {
  const idn = await delivered({ email: 'vic@bücher.example' })
  expect(headersOf(idn)).toContain('Reply-To: vic@xn--bcher-kva.example')
  const taken = await delivered({ email: 'jürgen@bücher.example' })
  expect(headersOf(taken).map(nameOf)).toEqual(names.filter((name) => name !== 'Reply-To'))
  expect(taken.data.replaceAll('\r\n', '')).not.toMatch(/[^\x20-\x7e\t]/)
  const { text } = await PostalMime.parse(taken.data)
  expect(text).toContain('Email: jürgen@bücher.example')
  expect(text).toContain('An answer to this message does not reach them')
})
