import { generateKeyPairSync } from 'node:crypto'

import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { dnsOf, keptMessages, mailSettings, makeMailboxes } from '#test/inbound-mail.ts'
import { type Stack, startStack } from '#test/stack.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const dkim = {
  privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  keySelector: 'key',
}
const keyRecord = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`

const OURS = [['v=spf1 ip4:127.0.0.1 -all']]
const OTHERS = [['v=spf1 ip4:192.0.2.1 -all']]
const policy = (text: string) => [[`v=DMARC1; p=${text}`]]

const dns = dnsOf({
  'TXT good.test': OURS,
  'TXT _dmarc.good.test': policy('reject'),
  'TXT reject.test': OTHERS,
  'TXT _dmarc.reject.test': policy('reject'),
  'TXT key._domainkey.reject.test': [[keyRecord]],
  'TXT quarantine.test': OTHERS,
  'TXT _dmarc.quarantine.test': policy('quarantine'),
  'TXT none.test': OTHERS,
  'TXT _dmarc.none.test': policy('none'),
  'TXT testing.test': OTHERS,
  'TXT _dmarc.testing.test': policy('reject; t=y'),
  'TXT slow.test': 'ESERVFAIL',
  'TXT _dmarc.slow.test': policy('reject'),
  'TXT slow-none.test': 'ETIMEOUT',
  'TXT _dmarc.slow-none.test': policy('none'),
  'TXT away.test': 'ESERVFAIL',
  'TXT _dmarc.away.test': 'ESERVFAIL',
  'TXT key._domainkey.lost.test': 'ETIMEOUT',
  'TXT lost.test': OTHERS,
  'TXT _dmarc.lost.test': policy('reject'),
  'TXT by-exchange.test': [['v=spf1 mx -all']],
  'MX by-exchange.test': [{ exchange: 'mx.by-exchange.test', priority: 10 }],
  'A mx.by-exchange.test': ['127.0.0.1'],
})

let stack: Stack
let transport: ReturnType<typeof createTransport>
beforeAll(async () => {
  stack = await startStack({
    sites: ['one.test'],
    config: { mail: mailSettings() },
    platform: { dns },
  })
  const port = await stack.context.smtp.start()
  transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, name: 'client.test' })
  await makeMailboxes(stack, 'one.test', ['info'])
})
afterAll(async () => {
  transport.close()
  await stack.context.smtp.drain(1000)
  await stack[Symbol.asyncDispose]()
})

let sent = 0
interface Case {
  /** Of From and, unless given, of the envelope. */
  readonly from: string
  readonly envelope?: string
  readonly signedBy?: string
  /** Written before and behind the address in From. */
  readonly authors?: readonly [string, string]
}

/** Gives what was stored, or what was said instead. */
async function send({ from, envelope = `ann@${from}`, signedBy, authors = ['', ''] }: Case) {
  const subject = `Number ${++sent}`
  try {
    await transport.sendMail({
      from: authors.join(`ann@${from}`),
      to: 'info@one.test',
      envelope: { from: envelope, to: 'info@one.test' },
      subject,
      text: 'Hello',
      ...(signedBy === undefined ? {} : { dkim: { ...dkim, domainName: signedBy } }),
    })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const kept = await keptMessages(stack, 'one.test')
  return kept.find((message) => message.subject === subject)?.authentication
}

test.each<[string, Case, Record<string, unknown>]>([
  ['of a sender that SPF names', { from: 'good.test' }, { spf: 'pass', dmarc: 'pass' }],
  [
    'with a signature alone',
    { from: 'reject.test', signedBy: 'reject.test' },
    { spf: 'fail', dkim: 'pass', dkimDomains: ['reject.test'], dmarc: 'pass' },
  ],
  [
    'of the null sender, with a signature',
    { from: 'reject.test', envelope: '', signedBy: 'reject.test' },
    { spf: 'none', dkim: 'pass', dmarc: 'pass' },
  ],
  [
    'whose domain asks for quarantine',
    { from: 'quarantine.test' },
    { spf: 'fail', dkim: 'none', dmarc: 'fail', dmarcPolicy: 'quarantine' },
  ],
  [
    'whose domain asks for nothing',
    { from: 'none.test' },
    { spf: 'fail', dmarc: 'fail', dmarcPolicy: 'none' },
  ],
  [
    'whose domain tries its policy',
    { from: 'testing.test' },
    { dmarc: 'fail', dmarcPolicy: 'quarantine' },
  ],
  [
    'of a domain without records',
    { from: 'plain.test' },
    { spf: 'none', dkim: 'none', dmarc: 'none', arc: 'none', dmarcPolicy: null },
  ],
  [
    'whose SPF cannot be found out and does not matter',
    { from: 'slow-none.test' },
    { spf: 'temperror', dmarc: 'fail', dmarcPolicy: 'none' },
  ],
  [
    'of which nothing can be found out',
    { from: 'away.test' },
    { spf: 'temperror', dmarc: 'temperror' },
  ],
  [
    'of a sender that SPF names by its mail exchange',
    { from: 'by-exchange.test' },
    { spf: 'pass', dmarc: 'none' },
  ],
  [
    'with authors of several domains, of which one has no policy',
    { from: 'reject.test', signedBy: 'reject.test', authors: ['bob@plain.test, ', ''] },
    { dkim: 'pass', dmarc: 'none', fromDomain: 'plain.test' },
  ],
  [
    'with authors of several domains, all of them authenticated',
    { from: 'good.test', signedBy: 'reject.test', authors: ['bob@reject.test, ', ''] },
    { spf: 'pass', dkim: 'pass', dmarc: 'pass', dmarcPolicy: 'reject' },
  ],
  [
    'with authors of several domains, of which one asks for quarantine',
    { from: 'good.test', authors: ['', ', bob@quarantine.test, eve@none.test'] },
    { spf: 'pass', dmarc: 'fail', dmarcPolicy: 'quarantine', fromDomain: 'quarantine.test' },
  ],
])('a message %s comes in with its verdict', async (_what, message, verdict) => {
  expect(await send(message)).toMatchObject(verdict)
})

test.each<[string, Case, string]>([
  [
    'without authentication',
    { from: 'reject.test' },
    '550 5.7.1 reject.test asks to refuse mail that it did not authenticate (DMARC p=reject): SPF fail, DKIM none',
  ],
  [
    'of another sender who is authentic',
    { from: 'reject.test', envelope: 'bob@good.test', signedBy: 'good.test' },
    '550 5.7.1 reject.test asks to refuse mail that it did not authenticate (DMARC p=reject): SPF pass',
  ],
  [
    'that a genuine author shares with a forged one',
    { from: 'good.test', authors: ['', ', boss@reject.test'] },
    '550 5.7.1 reject.test asks to refuse mail',
  ],
  [
    'that a forged author shares with a genuine one',
    { from: 'good.test', authors: ['boss@reject.test, ', ''] },
    '550 5.7.1 reject.test asks to refuse mail',
  ],
  [
    'of a forged author and of more than can be asked about',
    {
      from: 'good.test',
      authors: ['', Array.from({ length: 8 }, (_, at) => `, x@${at}.test`).join('')],
    },
    '550 5.7.1 From names authors of more than 8 domains',
  ],
  ['whose SPF cannot be found out', { from: 'slow.test' }, '451 4.7.1 The sender cannot be'],
  [
    'whose signature cannot be found out',
    { from: 'lost.test', signedBy: 'lost.test' },
    '451 4.7.1 The sender cannot be',
  ],
])('a message %s is refused as its domain asks', async (_what, message, reply) => {
  expect(await send(message)).toContain(reply)
})

/** Gives what was stored, or what was said instead. The envelope and the address that is authenticated are of good.test. */
async function sendField(from: string, fields = '') {
  const raw = Buffer.from(
    `${fields}From: ${from}\r\nSubject: Number ${++sent}\r\n\r\nHello\r\n`,
    'latin1',
  )
  try {
    await transport.sendMail({ envelope: { from: 'evil@good.test', to: 'info@one.test' }, raw })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const kept = await keptMessages(stack, 'one.test')
  return kept.find((message) => message.subject === `Number ${sent}`)
}

const typed = (charset: string) => `Content-Type: text/plain; charset=${charset}\r\n`

test.each([
  ['a quote in encoded words', '=?utf-8?q?a"?= <ceo@DOMAIN> =?utf-8?q?"b?= <evil@good.test>'],
  ['a parenthesis in encoded words', '=?utf-8?q?a(?= <ceo@DOMAIN> =?utf-8?q?)b?= <evil@good.test>'],
  [
    'an escaped quote in encoded words',
    '=?utf-8?q?a"\\?= <ceo@DOMAIN> =?utf-8?q?"b?= <evil@good.test>',
  ],
  ['quotes across a comma', 'x =?utf-8?q?"?= <ceo@DOMAIN>, =?utf-8?q?"?= <evil@good.test>'],
  ['escapes of ISO-2022', '\x1b$B<evil@good.test>!\x1b(B ceo@DOMAIN'],
  ['an escape with a parenthesis', '\x1b(B <ceo@DOMAIN> ) <evil@good.test>'],
  [
    'a lead byte of Shift_JIS',
    '"\x81\\" <ceo@DOMAIN> \x81\\"" <evil@good.test>',
    typed('shift_jis'),
  ],
  ['a lead byte of Big5', '"\xa4\\" <ceo@DOMAIN> \xa4\\"" <evil@good.test>', typed('big5')],
  ['a lead byte of GB 18030', '"\x81\\" <ceo@DOMAIN> \x81\\"" <evil@good.test>', typed('gb18030')],
  ['the name of a group', 'ceo@DOMAIN: evil@good.test;'],
  ['the name of a group without an end', 'ceo@DOMAIN: evil@good.test'],
  ['marks that are not seen', 'ceo@\u00e2\u0080\u008bDOMAIN <evil@good.test>, <ceo@DOMAIN>'],
])('no author hides behind %s', async (_what, from, fields = '') => {
  for (const domain of ['reject.test', 'plain.test', 'none.test']) {
    const found = await sendField(from.replaceAll('DOMAIN', domain), fields)
    const isRefused = typeof found === 'string' && /550 5\.7\.1 reject\.test asks/.test(found)
    const isGenuine = typeof found === 'object' && /(?:^|<)evil@good\.test>?$/.test(found.from)
    const isUnproven = typeof found === 'object' && found.authentication['dmarc'] !== 'pass'
    expect({ found, isSafe: isRefused || isGenuine || isUnproven }).toMatchObject({ isSafe: true })
  }
})

test('nothing is left of what was refused', async () => {
  const { siteId } = await stack.context.sites.find('one.test')
  const prefix = `sites/${siteId}/mail/`
  const { objects } = await stack.context.objects.list({ prefix, maxKeys: 1000 })
  const kept = await keptMessages(stack, 'one.test')
  expect(objects.filter(({ key }) => !key.includes('/parts/'))).toHaveLength(kept.length)
})
