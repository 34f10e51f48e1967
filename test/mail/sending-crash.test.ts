import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { CroftProcess } from '#test/croft-process.ts'
import { type KillableService, killableService } from '#test/killable-service.ts'
import { makeOwnMailboxes, sendWhileKilled } from '#test/killed-sender.ts'
import { portalOf } from '#test/operator.ts'
import { isWhole, shareOf } from '#test/share.ts'
import { SmtpServer, type Verb } from '#test/smtp-server.ts'

const [MESSAGES, KILLS] = [shareOf(2000), shareOf(30)]
/** Each of them may be with the gateway when the service is killed. */
const DELIVERIES_AT_ONCE = 8
/** The first that applies, by chance. */
const FAILURES: readonly (readonly [verb: Verb, below: number, answer: string])[] = [
  ['EHLO', 0.02, 'hang up'],
  ['RCPT', 0.03, '451 4.7.1 later'],
  ['MESSAGE', isWhole ? 0.001 : 0, 'stay silent'],
  ['MESSAGE', 0.03, 'hang up'],
  ['MESSAGE', 0.06, '452 4.3.1 no room now'],
]
/** Each may send to 120 recipients a minute. */
const MAILBOXES = Array.from({ length: shareOf(20) }, (_, at) => `box-${at}@sent.test`)

let cleanUp: AsyncDisposableStack
let gateway: SmtpServer
let service: KillableService
let croft: CroftProcess
let siteId: string
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  gateway = cleanUp.use(await SmtpServer.start())
  service = await killableService(cleanUp, { SMTP_URL: `smtp://127.0.0.1:${gateway.port}` })
  croft = await service.start()
  const portal = portalOf(croft, service.operatorKey)
  siteId = (await portal.createSite('sent.test')).json.siteId
})
afterEach(() => cleanUp.disposeAsync())

/** What gateways do on a bad day; what it refuses permanently is refused again. */
function fail(verb: Verb, line: string): string | undefined {
  if (verb === 'RCPT' && line.includes('never')) return '550 5.1.1 no such user'
  const chance = Math.random()
  return FAILURES.find(([failing, below]) => failing === verb && chance < below)?.[2]
}

const recipientOf = (index: number): string =>
  `${index % 10 === 0 ? 'never' : 'person'}-${index}@else.test`

/** Every message that was accepted ends, and nothing that the gateway has acknowledged is lost or sent again but by a crash. */
test(
  `of ${MESSAGES} messages each is sent or reported, while the service is killed ${KILLS} times`,
  { timeout: isWhole ? 3_600_000 : 300_000 },
  async () => {
    gateway.answer = fail
    const token = await portalOf(croft, service.operatorKey).token('sent.test', 'ann@sent.test')
    const call = (method: string, path: string, body?: unknown, key = 'none') =>
      croft.call({
        host: 'sent.test',
        method,
        path: `/admin/api${path}`,
        headers: { authorization: `Bearer ${token}`, 'idempotency-key': key },
        ...(body !== undefined && { body }),
      })
    await makeOwnMailboxes(call, MAILBOXES)
    await sendWhileKilled(call, {
      messages: MESSAGES,
      kills: KILLS,
      mailboxes: MAILBOXES,
      recipientOf,
      kill: async () => {
        await croft.kill()
        croft = await service.start()
      },
    })
    await vi.waitUntil(async () => (await counts()).queued === 0, {
      timeout: isWhole ? 3_000_000 : 240_000,
      interval: 500,
    })
    expect(await counts()).toEqual({
      queued: 0,
      sent: MESSAGES - MESSAGES / 10,
      failed: MESSAGES / 10,
    })
    const taken = gateway.messages
      .map(({ to }) => to.join(' '))
      .filter((recipient) => recipient.endsWith('@else.test'))
    const wanted = Array.from({ length: MESSAGES }, (_, index) => recipientOf(index))
    const people = wanted.filter((recipient) => !recipient.startsWith('never'))
    expect([...new Set(taken)].toSorted((one, other) => one.localeCompare(other))).toEqual(
      people.toSorted((one, other) => one.localeCompare(other)),
    )
    const repeated = taken.length - people.length
    process.stdout.write(`${repeated} of ${people.length} messages were taken again\n`)
    expect(repeated).toBeLessThanOrEqual(KILLS * DELIVERIES_AT_ONCE)
  },
)

interface Counts {
  readonly queued: number
  readonly sent: number
  readonly failed: number
}

const counts = (): Promise<Counts> =>
  service.database.withSite(siteId, async (tx) => {
    const { rows } = await sql<Counts>`
      select count(*) filter (where status = 'queued')::int as queued,
             count(*) filter (where status = 'sent')::int as sent,
             count(*) filter (where status in ('failed', 'suppressed'))::int as failed
      from mail_recipient`.execute(tx.db)
    return rows[0] ?? { queued: 0, sent: 0, failed: 0 }
  })
