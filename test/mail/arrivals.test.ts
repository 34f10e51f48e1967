import { randomUUID } from 'node:crypto'

import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { mail } from '#corpus/sample.ts'
import { InboundDeliveries } from '#mail/inbound/inbound-deliveries.ts'
import type { InboundMessage } from '#mail/inbound/model.ts'
import type { NewMessage } from '#mail/inbound/queries.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { connectPostgres, type PostgresPlatform } from '#platform/postgres/postgres.ts'
import { arrivalOf } from '#test/received-mail.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** The size of each message here. */
const SIZE = 1000
const SAME_MESSAGE_MS = 15 * 60_000

let stack: Stack
let postgres: PostgresPlatform
beforeAll(async () => {
  stack = await startStack({ sites: ['one.test', 'two.test'], works: false })
  postgres = await connectPostgres({ url: stack.database.url, log: silentLog, poolSize: 4 })
})
afterAll(async () => {
  await postgres[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

/** Deciding in a transaction of several statements has a job queued; one statement alone does not. */
const queueUp = vi.fn<(tx: SiteTx) => Promise<void>>(() => Promise.resolve())
const forward = vi.fn<(tx: SiteTx, messages: readonly NewMessage[]) => Promise<void>>(() =>
  Promise.resolve(),
)
beforeEach(() => vi.clearAllMocks())

let now = new Date()
const secondsFromNow = (seconds: number): Date => new Date(now.getTime() + seconds * 1000)

function arrivalsOf(): InboundDeliveries {
  const { ids } = stack.context
  const mailParsing = { queueUp, queuedSince: () => secondsFromNow(-10) }
  return new InboundDeliveries({
    ...postgres,
    ids,
    clock: { now: () => now },
    mailParsing,
    forward,
  })
}

type Columns = Partial<Record<'quota_bytes' | 'quota_messages' | 'status', string>>

interface MailboxOptions {
  readonly host?: string
  readonly columns?: Columns
  readonly parsingSince?: Date | null
}

/** A new mailbox on a site whose messages a job is about to parse. */
async function mailboxOf({
  host = 'one.test',
  columns = {},
  parsingSince = now,
}: MailboxOptions = {}) {
  const mailboxId = `mbx_${randomUUID()}`
  const siteId = await stack.inSite(host, async (tx) => {
    await sql`insert into mail_address (site_id, local_part, kind)
      values (${tx.siteId}, ${mailboxId}, 'mailbox')`.execute(tx.db)
    await tx.db
      .insertInto('mailbox')
      .values({ site_id: tx.siteId, mailbox_id: mailboxId, local_part: mailboxId })
      .execute()
    await sql`insert into mail_usage (site_id, parsing_since) values (${tx.siteId}, ${parsingSince})
      on conflict (site_id) do update set parsing_since = excluded.parsing_since`.execute(tx.db)
    if (Object.keys(columns).length > 0) {
      const disabled = columns.status === 'DISABLED' ? { disabled_at: now } : {}
      await tx.db
        .updateTable('mailbox')
        .set({ ...columns, ...disabled } as Record<string, unknown>)
        .where('site_id', '=', tx.siteId)
        .where('mailbox_id', '=', mailboxId)
        .execute()
    }
    return tx.siteId
  })
  return { siteId, mailboxId }
}

let made = 0
function messageTo(...mailboxIds: readonly string[]): InboundMessage {
  made += 1
  const text = mail([`Subject: ${made}`, `Message-ID: <${made}@else.test>`], 'Text')
  const raw = Buffer.from(text.padEnd(SIZE - 2, 'x') + '\r\n')
  const deliveries = mailboxIds.map((mailboxId) => ({ mailboxId, recipient: 'ann@one.test' }))
  return arrivalOf(raw, { deliveries, receivedAt: now })
}

/** The same message, sent again: its bytes lie elsewhere. */
const again = (arrival: InboundMessage): InboundMessage => ({
  ...arrival,
  rawId: `raw_${randomUUID()}`,
})

const rowsOf = (mailboxId: string, host = 'one.test') =>
  stack.inSite(host, (tx) =>
    tx.db
      .selectFrom('mail_message')
      .innerJoin('mail_raw', 'mail_raw.raw_id', 'mail_message.raw_id')
      .innerJoin('mailbox', 'mailbox.mailbox_id', 'mail_message.mailbox_id')
      .select(['mail_raw.raw_id as rawId', 'subject', 'thread_id as threadId', 'message_id as id'])
      .select(['used_bytes as usedBytes', 'used_messages as usedMessages', 'sha256'])
      .where('mail_message.site_id', '=', tx.siteId)
      .where('mail_message.mailbox_id', '=', mailboxId)
      .execute(),
  )

const usageOf = (host: string) =>
  stack.inSite(host, (tx) =>
    tx.db
      .selectFrom('mail_usage')
      .select(['used_bytes as bytes', 'used_messages as messages'])
      .where('site_id', '=', tx.siteId)
      .executeTakeFirstOrThrow(),
  )

describe('messages that need no decision', () => {
  test('are rows in their mailboxes, counted, and queue no job', async () => {
    const [one, other] = [await mailboxOf(), await mailboxOf()]
    const before = await usageOf('one.test')
    const arrivals = arrivalsOf()
    const [both, alone] = [messageTo(one.mailboxId, other.mailboxId), messageTo(one.mailboxId)]
    const decisions = await Promise.all([
      arrivals.accept(one.siteId, both),
      arrivals.accept(one.siteId, alone),
    ])
    expect(decisions).toMatchObject([{ messages: [{}, {}] }, { messages: [{}] }])
    expect(queueUp).not.toHaveBeenCalled()
    const rows = await rowsOf(one.mailboxId)
    const counts = { usedBytes: '2000', usedMessages: '2' }
    expect(rows.toSorted((a, b) => Number(a.subject) - Number(b.subject))).toMatchObject([
      { rawId: both.rawId, sha256: both.sha256, subject: both.headers.subject, ...counts },
      { rawId: alone.rawId, sha256: alone.sha256, subject: alone.headers.subject, ...counts },
    ])
    for (const { id, threadId } of rows) expect(threadId).toBe(id)
    expect(await rowsOf(other.mailboxId)).toMatchObject([{ usedMessages: '1' }])
    expect(await usageOf('one.test')).toEqual({
      bytes: String(Number(before.bytes) + 3 * SIZE),
      messages: String(Number(before.messages) + 3),
    })
  })

  test('tell those who watch the mailbox', async () => {
    const { siteId, mailboxId } = await mailboxOf()
    const heard: unknown[] = []
    await postgres.notifications.listen('croft_mail', { onMessage: (news) => heard.push(news) })
    await arrivalsOf().accept(siteId, messageTo(mailboxId))
    await vi.waitUntil(() => heard.length > 0)
    expect(heard).toEqual([{ siteId, mailboxId }])
  })

  test.each([
    ['bytes', { quota_bytes: String(2 * SIZE) }],
    ['messages', { quota_messages: '2' }],
  ])('fill a mailbox to the last of its %s', async (_, columns) => {
    const { siteId, mailboxId } = await mailboxOf({ columns })
    const arrivals = arrivalsOf()
    const wanted = [1, 2].map(() => arrivals.accept(siteId, messageTo(mailboxId)))
    expect(await Promise.all(wanted)).toMatchObject([{ messages: [{}] }, { messages: [{}] }])
    expect(queueUp).not.toHaveBeenCalled()
    expect(await arrivals.accept(siteId, messageTo(mailboxId))).toMatchObject({
      refusal: { responseCode: 452 },
    })
    expect(await rowsOf(mailboxId)).toHaveLength(2)
  })

  test('are new again when they are forgotten', async () => {
    const { siteId, mailboxId } = await mailboxOf()
    const arrival = messageTo(mailboxId)
    await arrivalsOf().accept(siteId, arrival)
    now = new Date(now.getTime() + SAME_MESSAGE_MS + 1000)
    await mailboxOf()
    expect(await arrivalsOf().accept(siteId, again(arrival))).toMatchObject({ messages: [{}] })
    expect(queueUp).not.toHaveBeenCalled()
    expect(await rowsOf(mailboxId)).toHaveLength(2)
  })
})

describe('messages that need one', () => {
  test.each([
    ['a mailbox without room for its bytes', { quota_bytes: String(SIZE - 1) }, 452],
    ['a mailbox without room for a message', { quota_messages: '0' }, 452],
    ['a mailbox that was disabled', { status: 'DISABLED' }, 451],
  ] as const)('for %s are refused, and no other recipient with them', async (_, columns, code) => {
    const [closed, open] = [await mailboxOf({ columns }), await mailboxOf()]
    const { siteId } = open
    const arrivals = arrivalsOf()
    const decisions = await Promise.all([
      arrivals.accept(siteId, messageTo(closed.mailboxId)),
      arrivals.accept(siteId, messageTo(open.mailboxId)),
      arrivals.accept(siteId, messageTo(open.mailboxId, closed.mailboxId)),
    ])
    const refused = { refusal: { responseCode: code } }
    expect(decisions).toMatchObject([refused, { messages: [{}] }, refused])
    expect(queueUp).toHaveBeenCalledOnce()
    expect(await rowsOf(open.mailboxId)).toHaveLength(1)
    expect(await rowsOf(closed.mailboxId)).toEqual([])
  })

  test('for a mailbox that is gone are put off', async () => {
    const { siteId } = await mailboxOf()
    expect(await arrivalsOf().accept(siteId, messageTo('mbx_gone'))).toMatchObject({
      refusal: { responseCode: 451 },
    })
  })

  test('for a site without room are refused', async () => {
    const { siteId, mailboxId } = await mailboxOf({ host: 'two.test' })
    await stack.inSite('two.test', (tx) =>
      sql`update site set deployment_settings = '{"limits": {"mailMessages": 1}}'
        where site_id = ${tx.siteId}`.execute(tx.db),
    )
    const arrivals = arrivalsOf()
    expect(await arrivals.accept(siteId, messageTo(mailboxId))).toMatchObject({ messages: [{}] })
    expect(queueUp).not.toHaveBeenCalled()
    const full = { refusal: { responseCode: 452 } }
    expect(await arrivals.accept(siteId, messageTo(mailboxId))).toMatchObject(full)
    expect(await rowsOf(mailboxId, 'two.test')).toHaveLength(1)
  })

  test('because they are here already are here once', async () => {
    const { siteId, mailboxId } = await mailboxOf()
    const arrivals = arrivalsOf()
    const arrival = messageTo(mailboxId)
    await arrivals.accept(siteId, arrival)
    const decisions = await Promise.all([
      arrivals.accept(siteId, again(arrival)),
      arrivals.accept(siteId, messageTo(mailboxId)),
    ])
    expect(decisions).toMatchObject([{ messages: [] }, { messages: [{}] }])
    expect(await rowsOf(mailboxId)).toHaveLength(2)
  })

  test('because they come twice at once are here once', async () => {
    const { siteId, mailboxId } = await mailboxOf()
    const arrivals = arrivalsOf()
    const arrival = messageTo(mailboxId)
    const both = [arrival, again(arrival)].map((each) => arrivals.accept(siteId, each))
    expect(await Promise.all(both)).toMatchObject([{ messages: [{}] }, { messages: [] }])
    expect(await rowsOf(mailboxId)).toMatchObject([{ rawId: arrival.rawId }])
  })

  test('because their mailbox forwards are sent on', async () => {
    const { siteId, mailboxId } = await mailboxOf()
    await stack.inSite('one.test', (tx) =>
      sql`insert into mail_forwarding (site_id, mailbox_id, enabled, keep_copy, updated_at)
        values (${tx.siteId}, ${mailboxId}, true, true, now())`.execute(tx.db),
    )
    const arrival = messageTo(mailboxId)
    await arrivalsOf().accept(siteId, arrival)
    expect(forward).toHaveBeenCalledExactlyOnceWith(expect.anything(), [
      expect.objectContaining({ mailboxId, arrival }),
    ])
    expect(await rowsOf(mailboxId)).toHaveLength(1)
  })

  test.each([
    ['no worker is about to parse them', () => null],
    ['who was about to parse them may be dead', () => secondsFromNow(-11)],
    ['a clock was wrong', () => secondsFromNow(11)],
  ])('because %s queue a job', async (_, since) => {
    const { siteId, mailboxId } = await mailboxOf({ parsingSince: since() })
    await arrivalsOf().accept(siteId, messageTo(mailboxId))
    expect(queueUp).toHaveBeenCalledOnce()
    expect(await rowsOf(mailboxId)).toHaveLength(1)
  })
})

test('a message that Postgres does not take fails alone', async () => {
  const { siteId, mailboxId } = await mailboxOf()
  const arrivals = arrivalsOf()
  const broken = { ...messageTo(mailboxId), traceHeader: 'NUL \0' }
  const [failed, ...kept] = await Promise.allSettled([
    arrivals.accept(siteId, broken),
    arrivals.accept(siteId, messageTo(mailboxId)),
    arrivals.accept(siteId, messageTo(mailboxId)),
  ])
  expect(failed).toMatchObject({ status: 'rejected' })
  expect(kept).toMatchObject([{ value: { messages: [{}] } }, { value: { messages: [{}] } }])
  expect(await rowsOf(mailboxId)).toHaveLength(2)
})
