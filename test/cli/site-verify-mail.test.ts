import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { partKey, rawKey } from '#mail/objects/mail-keys.ts'
import { makeMailboxes } from '#test/inbound-mail.ts'
import { type MailRow, type StoredMail, storeMail } from '#test/mail-rows.ts'
import { asAdmin } from '#test/postgres.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

type Sql = Parameters<Parameters<typeof asAdmin>[0]>[0]

const DAY_MS = 24 * 3_600_000

let stack: Stack
let env: Record<string, string>
/** Added to the time of the service. */
let aheadMs = 0
beforeAll(async () => {
  const clock = { now: () => new Date(Date.now() + aheadMs) }
  stack = await startStack({ sites: [], platform: { clock } })
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
})
afterAll(() => stack[Symbol.asyncDispose]())

interface Place {
  readonly domain: string
  readonly siteId: string
  readonly mail: StoredMail
}

let made = 0
/** A site with one mailbox, which holds a message with two attachments. */
async function place(row: Omit<MailRow, 'mailbox'> = {}): Promise<Place> {
  const domain = `verify-${++made}.test`
  const { siteId } = await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
  await makeMailboxes(stack, domain, ['info'])
  const attachments = ['a', 'b'].map((name) => ({
    attachmentId: name,
    filename: name,
    contentType: 'text/plain',
    bytes: name,
  }))
  const mail = await storeMail(stack, { mailbox: `info@${domain}`, attachments, ...row })
  return { domain, siteId, mail }
}

/** What the checks of mail say, as `✓ mail rows: …`. */
async function verify({ domain }: Place, ...options: string[]): Promise<Record<string, string>> {
  const { out, err } = await croft(['site', 'verify', domain, '--json', ...options], env)
  expect(err).toBe('')
  const checks: { name: string; ok: boolean; detail: string }[] = JSON.parse(out).checks
  return Object.fromEntries(
    checks
      .filter(({ name }) => name.startsWith('mail'))
      .map(({ name, ok, detail }) => [name, `${ok ? '✓' : '✗'} ${detail}`]),
  )
}

/** As nothing but a fault could: foreign keys count for nothing. */
const damage = (work: (sql: Sql) => Promise<unknown>) =>
  asAdmin(async (sql) => {
    await sql`set session_replication_role = replica`
    await work(sql)
  }, stack.database.url)

const rawKeyOf = ({ siteId, mail }: Place) => rawKey(siteId, mail.rawId)
const partKeyOf = ({ siteId, mail }: Place, id: string) => partKey(siteId, mail.rawId, id)

describe('croft site verify', () => {
  test('finds mail that is whole, as deep as it looks', async () => {
    const there = await place()
    const bytes = Buffer.byteLength(there.mail.raw)
    expect(bytes).toBeGreaterThan(0)
    const rows = { 'mail rows': '✓ 1 mailbox, counted right' }
    const objects = { 'mail objects': '✓ 3 objects' }
    expect(await verify(there, '--mail', 'rows')).toEqual(rows)
    expect(await verify(there)).toEqual({
      ...rows,
      'mail messages': '✓ 1 message, of unchanged length',
      ...objects,
    })
    expect(await verify(there, '--mail', 'bytes')).toEqual({
      ...rows,
      'mail messages': '✓ 1 message, every byte unchanged',
      ...objects,
    })
  })

  test.each<[string, (there: Place, sql: Sql) => Promise<unknown>, (there: Place) => RegExp]>([
    [
      'a mailbox that counts wrong',
      ({ siteId }, sql) =>
        sql`update mailbox set used_messages = 7, used_bytes = used_bytes + 1 where site_id = ${siteId}`,
      ({ domain }) =>
        new RegExp(`info@${domain} counts \\d+ bytes in 7 messages, and its messages`),
    ],
    [
      'a site that counts wrong',
      ({ siteId }, sql) => sql`update mail_usage set used_bytes = 0 where site_id = ${siteId}`,
      ({ domain }) => new RegExp(`✗ ${domain} counts 0 bytes in 1 messages, and its mailboxes`),
    ],
    [
      'a site that counts nothing',
      ({ siteId }, sql) => sql`delete from mail_usage where site_id = ${siteId}`,
      ({ domain }) => new RegExp(`✗ ${domain} counts 0 bytes in 0 messages, and its mailboxes`),
    ],
    [
      'a message that has lost what came',
      ({ siteId }, sql) => sql`delete from mail_raw where site_id = ${siteId}`,
      ({ mail }) => new RegExp(`✗ ${mail.messageId} has lost what came$`),
    ],
    [
      'a message of another size than what came',
      ({ siteId }, sql) => sql`update mail_raw set size_bytes = 1 where site_id = ${siteId}`,
      ({ mail }) => new RegExp(`✗ ${mail.messageId} counts other bytes than came$`),
    ],
    [
      'a message in no mailbox',
      async ({ siteId }, sql) => {
        await sql`delete from mail_message where site_id = ${siteId}`
        await sql`update mailbox set used_messages = 0, used_bytes = 0 where site_id = ${siteId}`
        await sql`update mail_usage set used_messages = 0, used_bytes = 0 where site_id = ${siteId}`
      },
      ({ mail }) => new RegExp(`✗ ${mail.rawId} is in no mailbox$`),
    ],
    [
      'a message whose text is gone',
      ({ siteId }, sql) => sql`delete from mail_content where site_id = ${siteId}`,
      ({ mail }) => new RegExp(`✗ ${mail.rawId} was parsed, and what was read is not there$`),
    ],
  ])('finds in the rows %s', async (_what, break_, found) => {
    const there = await place()
    await damage((sql) => break_(there, sql))
    expect((await verify(there, '--mail', 'rows'))['mail rows']).toMatch(found(there))
  })

  test.each<[string, (there: Place) => Promise<unknown>, (there: Place) => string]>([
    [
      'the bytes of a message gone',
      (there) => stack.context.objects.delete(rawKeyOf(there)),
      ({ mail }) => `✗ the bytes of ${mail.rawId} are gone`,
    ],
    [
      'fewer bytes than came',
      (there) => stack.context.objects.put(rawKeyOf(there), Buffer.from('S')),
      ({ mail }) => `✗ ${mail.rawId} has 1 bytes, and ${Buffer.byteLength(mail.raw)} came`,
    ],
    [
      'an attachment gone',
      (there) => stack.context.objects.delete(partKeyOf(there, 'b')),
      ({ mail }) => `✗ 1 of the 2 attachments of ${mail.rawId} are gone`,
    ],
    [
      'an attachment longer than it was',
      (there) => stack.context.objects.put(partKeyOf(there, 'b'), Buffer.from('bb')),
      ({ mail }) => `✗ 1 of the 2 attachments of ${mail.rawId} have another length`,
    ],
  ])('finds among the objects %s', async (_what, break_, found) => {
    const there = await place()
    await break_(there)
    expect((await verify(there))['mail messages']).toBe(found(there))
    expect((await verify(there, '--mail', 'rows'))['mail rows']).toMatch(/^✓/)
  })

  test('finds other bytes of the same length when it reads them', async () => {
    const there = await place({ raw: 'Subject: a\r\n\r\n' })
    await stack.context.objects.put(rawKeyOf(there), Buffer.from('Subject: b\r\n\r\n'))
    expect((await verify(there))['mail messages']).toMatch(/^✓/)
    const read = await verify(there, '--mail', 'bytes')
    expect(read['mail messages']).toBe(`✗ ${there.mail.rawId} has other bytes than came`)
  })

  test('lists bytes without a message once they are a day old, unless they are on their way out', async () => {
    const there = await place()
    for (const id of ['raw_orphan', 'raw_removed']) {
      const key = rawKey(there.siteId, id)
      await stack.context.objects.put(key, Buffer.from('never accepted'))
    }
    await damage(
      (sql) => sql`insert into mail_removed_object (site_id, raw_id)
        values (${there.siteId}, 'raw_removed')`,
    )
    const objects = async () => (await verify(there))['mail objects']
    expect(await objects()).toBe('✓ 5 objects')
    try {
      aheadMs = DAY_MS + 60_000
      expect(await objects()).toBe(
        '✓ 5 objects; the next sweep removes what is no message’s: the bytes of raw_orphan are of no message',
      )
    } finally {
      aheadMs = 0
    }
  })

  test('looks at every message and object, page by page, and says how far it is', async () => {
    const there = await place()
    for (let n = 0; n < 201; n++) {
      await storeMail(stack, { mailbox: `info@${there.domain}`, subject: `${n}` })
    }
    const lost = (await storeMail(stack, { mailbox: `info@${there.domain}` })).rawId
    await stack.context.objects.delete(rawKey(there.siteId, lost))
    const ran = await croft(['site', 'verify', there.domain], env)
    expect(ran.code).toBe(1)
    expect(ran.err).toBe('mail messages: 200 looked at…\n')
    expect(ran.out).toContain(`✗ mail messages: the bytes of ${lost} are gone\n`)
    expect(ran.out).toContain('✓ mail objects: 204 objects\n')
  })
})
