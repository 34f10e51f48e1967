import { type KeyObject, generateKeyPairSync } from 'node:crypto'

import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type CroftProcess, freePort } from '#test/croft-process.ts'
import { DnsServer, type DnsReply, NO_RESPONSE, txt } from '#test/dns-server.ts'
import { RawSmtp } from '#test/inbound-mail.ts'
import { type KillableService, killableService } from '#test/killable-service.ts'
import { portalOf } from '#test/operator.ts'

const keyPair = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength })
const [K2048, K4096, OTHER] = [keyPair(2048), keyPair(4096), keyPair(2048)]
const recordOf = (key: KeyObject): string =>
  `v=DKIM1; k=rsa; p=${key.export({ type: 'spki', format: 'der' }).toString('base64')}`
/** Over 600 bytes, with what counts at its end. */
const LONG_SPF = `v=spf1 ${'ip4:192.0.2.1 '.repeat(42)}ip4:127.0.0.1 -all`

const records: Record<string, DnsReply> = {}
const add = (name: string, text: string) =>
  (records[`TXT ${name}`] = { answers: [txt(name, text)] })
for (const domain of ['short', 'long', 'lost', 'silent', 'gone', 'spf', 'half-spf']) {
  add(`${domain}.test`, 'v=spf1 ip4:192.0.2.1 -all')
  add(`_dmarc.${domain}.test`, 'v=DMARC1; p=reject')
}
add('key._domainkey.short.test', recordOf(K2048.publicKey))
add('key._domainkey.long.test', recordOf(K4096.publicKey))
records['TXT key._domainkey.lost.test'] = { rcode: 'SERVFAIL' }
records['TXT key._domainkey.silent.test'] = NO_RESPONSE
add('spf.test', LONG_SPF)
records['TXT half-spf.test'] = { rcode: 'SERVFAIL' }

let dns: DnsServer
let service: KillableService
let croft: CroftProcess
let smtpPort: number
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  dns = cleanUp.use(await DnsServer.start((name, type) => records[`${type} ${name}`]))
  smtpPort = await freePort()
  service = await killableService(cleanUp, {
    SMTP_PORT: String(smtpPort),
    SMTP_HOSTNAME: 'mx.croft.test',
    CROFT_DNS_SERVERS: dns.address,
  })
  croft = await service.start()
  const portal = portalOf(croft, service.operatorKey)
  await portal.createSite('one.test')
  const admin = await portal.admin('one.test')
  const me = await admin('GET', '/admin/api/users')
  const owners = [me.json.items[0].userId]
  await admin('POST', '/admin/api/mailboxes', { address: 'info@one.test', owners })
})
afterAll(() => cleanUp.disposeAsync())

/** The reply to a message from that domain, signed with that key. */
async function send(domain: string, key?: KeyObject, signer = `${domain}.test`): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true })
  const privateKey = key?.export({ type: 'pkcs8', format: 'pem' }).toString()
  const dkim = privateKey && { dkim: { privateKey, keySelector: 'key', domainName: signer } }
  const envelope = { from: `ann@${domain}.test`, to: 'info@one.test' }
  try {
    const sent = await transport.sendMail({ ...envelope, text: 'Hello', ...dkim })
    return sent.response
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    transport.close()
  }
}

describe('the service on Bun, with real DNS', () => {
  test('runs on Bun', () => {
    expect(croft.command()).toContain('bun')
  })

  test.each<[string, string, KeyObject | undefined, string]>([
    ['genuine, by a key of 2048 bits', 'short', K2048.privateKey, '250'],
    ['genuine, by a key of 4096 bits', 'long', K4096.privateKey, '250'],
    ['genuine, by an SPF record of 600 bytes', 'spf', undefined, '250'],
    ['forged, without a signature', 'short', undefined, '550 5.7.1'],
    ['forged, by another key of 2048 bits', 'short', OTHER.privateKey, '550 5.7.1'],
    ['forged, by a key of another size', 'long', K2048.privateKey, '550 5.7.1'],
    ['whose key does not exist', 'gone', K2048.privateKey, '550 5.7.1'],
    ['for whose key DNS fails', 'lost', K2048.privateKey, '451 4.7.1'],
    ['for whose key DNS is silent', 'silent', K2048.privateKey, '451 4.7.1'],
    ['for whose SPF DNS fails', 'half-spf', undefined, '451 4.7.1'],
  ])('answers mail under p=reject %s', async (_what, domain, key, reply) => {
    expect(await send(domain, key)).toContain(reply)
  })

  test.each([
    ['', 'From: boss@short.test\r\n'],
    [', in another case', 'FROM: boss@short.test\r\n'],
    [', folded', 'From\r\n :\r\n boss@short.test\r\n'],
    [', far behind it', `X: ${'x'.repeat(300_000)}\r\nFrom: boss@short.test\r\n`],
  ])('refuses a second From%s', async (_what, second) => {
    await using client = await RawSmtp.greeted(smtpPort)
    const message = `From: ann@plain.test\r\nSubject: a\r\n${second}\r\nHello\r\n`
    expect(await client.message('ann@plain.test', ['info@one.test'], message)).toMatch(
      /^550 5\.7\.1 .*more than one From/,
    )
  })

  test('finds the record of its own key', async () => {
    const portal = async (path: string) => {
      const headers = { authorization: `Bearer ${service.operatorKey}` }
      return (await croft.call({ path: `/portal/api/sites/one.test/${path}`, headers })).json
    }
    const [own] = (await portal('dkim')).items
    add(own.name, own.value)
    add('one.test', LONG_SPF.replace('ip4:127.0.0.1', 'mx'))
    expect((await portal('dns')).records).toMatchObject([
      { purpose: 'receiving', state: 'missing' },
      { purpose: 'SPF', state: 'present' },
      { purpose: 'DKIM', state: 'present', found: [own.value] },
      { purpose: 'DMARC', state: 'missing' },
    ])
  })
})
