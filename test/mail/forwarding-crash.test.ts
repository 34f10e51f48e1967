import { setTimeout as delay } from 'node:timers/promises'

import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { type CroftProcess, freePort } from '#test/croft-process.ts'
import { type KillableService, killableService } from '#test/killable-service.ts'
import { portalOf } from '#test/operator.ts'
import { type Envelope, sendAll } from '#test/retrying-sender.ts'
import { SmtpServer, type Verb } from '#test/smtp-server.ts'

const MESSAGES = 40
const KILLS = 2
/** Each of them may be with the gateway when the service is killed. */
const DELIVERIES_AT_ONCE = 8
const TARGETS = ['ann@else.test', 'vic@far.test']
const MAILBOX = 'info@kept.test'
const PATIENCE = { timeout: 200_000, interval: 200 }

let cleanUp: AsyncDisposableStack
let gateway: SmtpServer
let service: KillableService
let croft: CroftProcess
let smtpPort: number
let siteId: string
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  gateway = cleanUp.use(await SmtpServer.start())
  smtpPort = await freePort()
  service = await killableService(cleanUp, {
    SMTP_URL: `smtp://127.0.0.1:${gateway.port}`,
    SMTP_PORT: String(smtpPort),
  })
  croft = await service.start()
  const portal = portalOf(croft, service.operatorKey)
  siteId = (await portal.createSite('kept.test')).json.siteId
  const ann = await portal.admin('kept.test')
  const { items } = (await ann('GET', '/admin/api/users')).json
  await ann('POST', '/admin/api/mailboxes', { address: MAILBOX, owners: [items[0].userId] })
  await ann('PUT', `/admin/api/mailboxes/${MAILBOX}/forwarding`, { enabled: true, keepCopy: false })
  await ann('POST', `/admin/api/mailboxes/${MAILBOX}/forwarding-targets`, { targets: TARGETS })
  await service.database.withSite(siteId, async (tx) => {
    await sql`update mail_forwarding_target set verified_at = now()`.execute(tx.db)
  })
  gateway.answer = fail
})
afterEach(() => cleanUp.disposeAsync())

/** What gateways do on a bad day. */
function fail(verb: Verb): string | undefined {
  const chance = Math.random()
  if (verb === 'RCPT' && chance < 0.02) return '451 4.7.1 later'
  return verb === 'MESSAGE' && chance < 0.02 ? 'hang up' : undefined
}

const envelopes: readonly Envelope[] = Array.from({ length: MESSAGES }, (_, index) => ({
  recipients: [MAILBOX],
  message: `From: a@a.test\r\nSubject: Number ${index}\r\nMessage-ID: <${index}@a.test>\r\n\r\nText\r\n`,
}))

const countOf = async (table: 'mail_message' | 'mail_raw'): Promise<number> => {
  const { count } = await service.database.withSite(siteId, (tx) =>
    tx.db
      .selectFrom(table)
      .select(sql<number>`count(*)::int`.as('count'))
      .executeTakeFirstOrThrow(),
  )
  return count
}

test(
  `of ${MESSAGES} messages each reaches both targets and is released, while the service is killed ${KILLS} times`,
  { timeout: 300_000 },
  async () => {
    let acknowledged = 0
    const sending = sendAll(smtpPort, envelopes, () => (acknowledged += 1))
    for (let round = 1; round <= KILLS; round += 1) {
      while (acknowledged < Math.floor((round * MESSAGES) / (KILLS + 1))) await delay(1)
      await croft.kill()
      croft = await service.start()
    }
    await sending
    await vi.waitUntil(async () => (await countOf('mail_message')) === 0, PATIENCE)
    // The others asked the targets whether they agree.
    const forwarded = gateway.messages.filter(({ data }) => data.includes('Subject: Number'))
    const subjects = (target: string): string[] =>
      forwarded
        .filter(({ to }) => to.includes(target))
        .map(({ data }) => /Subject: (.*)\r\n/.exec(data)?.[1] ?? '')
    const wanted = envelopes.map((_, index) => `Number ${index}`)
    for (const target of TARGETS) expect(new Set(subjects(target))).toEqual(new Set(wanted))
    const repeated = forwarded.length - MESSAGES * TARGETS.length
    process.stdout.write(`${repeated} of ${MESSAGES * TARGETS.length} were taken again\n`)
    expect(repeated).toBeLessThanOrEqual(KILLS * DELIVERIES_AT_ONCE)
    expect(await countOf('mail_raw')).toBe(0)
    const usage = await service.database.withSite(siteId, (tx) =>
      tx.db.selectFrom('mail_usage').select(['used_bytes', 'used_messages']).executeTakeFirst(),
    )
    expect(usage).toEqual({ used_bytes: '0', used_messages: '0' })
  },
)
