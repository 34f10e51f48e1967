import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { systemClock } from '#base/clock.ts'
import { rawKey } from '#mail/objects/mail-keys.ts'
import { FileObjectStore } from '#platform/objects/file-object-store.ts'
import type { CroftProcess } from '#test/croft-process.ts'
import { killableMailSite } from '#test/killable-mail-site.ts'
import type { KillableService } from '#test/killable-service.ts'
import { asAdmin } from '#test/postgres.ts'
import { type Envelope, sendAll } from '#test/retrying-sender.ts'
import { isWhole, shareOf } from '#test/share.ts'

const [MESSAGES, KILLS] = [shareOf(2000), shareOf(30)]
const SENDERS = 8
const MAILBOXES = ['info', 'sales']
const LONG_BODY = `${'0123456789'.repeat(7)}\r\n`.repeat(6000)

let cleanUp: AsyncDisposableStack
let service: KillableService
let smtpPort: number
let croft: CroftProcess
let siteId: string
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  ;({ service, smtpPort, croft, siteId } = await killableMailSite(cleanUp, MAILBOXES))
})
afterEach(() => cleanUp.disposeAsync())

/** Every fifth goes to two mailboxes, every twentieth is too long to be held in memory. */
const envelopes: readonly Envelope[] = Array.from({ length: MESSAGES }, (_, index) => ({
  recipients: (index % 5 === 0 ? MAILBOXES : [MAILBOXES[index % 2]]).map(
    (name) => `${name}@kept.test`,
  ),
  message: `From: a@a.test\r\nSubject: Number ${index}\r\nMessage-ID: <${index}@a.test>\r\n\r\n${
    index % 20 === 0 ? LONG_BODY : 'Text\r\n'
  }`,
}))

/** Has all senders at work, and breaks something whenever that many more messages have been acknowledged. */
async function sendWhile(breakIt: () => Promise<void>): Promise<void> {
  let acknowledged = 0
  const shares = Array.from({ length: SENDERS }, (_, sender) =>
    envelopes.filter((_each, index) => index % SENDERS === sender),
  )
  const sending = Promise.all(
    shares.map((share) => sendAll(smtpPort, share, () => (acknowledged += 1))),
  )
  let isOver = false
  const over = sending.finally(() => (isOver = true))
  const every = Math.floor(MESSAGES / (KILLS + 1))
  const breaking = (async () => {
    for (let round = 1; round <= KILLS && !isOver; round++) {
      const at = round * every - Math.floor(Math.random() * every)
      while (acknowledged < at && !isOver) await delay(1)
      // Anywhere between two answers.
      await delay(Math.random() * 20)
      await breakIt()
    }
  })()
  await Promise.all([over, breaking])
  expect(acknowledged).toBe(MESSAGES)
}

const digestOf = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex')

interface Kept {
  readonly mailbox: string
  readonly subject: string
  readonly digest: string
}

const bySubject = (one: Kept, other: Kept): number =>
  `${one.subject} ${one.mailbox}`.localeCompare(`${other.subject} ${other.mailbox}`)

/** Every message in each of its mailboxes, once, with its own bytes. */
async function expectAllOnce(): Promise<void> {
  const rows = await service.database.withSite(siteId, (tx) =>
    tx.db
      .selectFrom('mail_message')
      .select(['mailbox_id as mailbox', 'subject', 'raw_id as rawId'])
      .execute(),
  )
  const urls = { sign: () => Promise.reject(new Error('No URL is asked for')) }
  const dir = join(service.dataDir, 'objects')
  const objects = new FileObjectStore({ dir, urls, clock: systemClock })
  const kept: Kept[] = []
  for (const { rawId, ...row } of rows) {
    const raw = await objects.get(rawKey(siteId, rawId))
    const bytes = raw ? await new Response(raw.body).bytes() : ''
    kept.push({ ...row, digest: digestOf(bytes) })
  }
  const sent = envelopes.flatMap(({ recipients, message }) =>
    recipients.map((recipient) => ({
      mailbox: `mbx_${recipient.split('@')[0]}`,
      subject: /Subject: (.*)\r\n/.exec(message)?.[1] ?? '',
      digest: digestOf(message),
    })),
  )
  expect(kept.toSorted(bySubject)).toEqual(sent.toSorted(bySubject))
  const bytes = sent.length
  const usage = await service.database.withSite(siteId, (tx) =>
    tx.db.selectFrom('mail_usage').select('used_messages as messages').executeTakeFirst(),
  )
  expect(usage).toEqual({ messages: String(bytes) })
}

/** Each was read in the end, by whichever process lived long enough. */
async function expectAllParsed(): Promise<void> {
  const counts = () =>
    service.database.withSite(siteId, async (tx) => {
      const { rows } = await sql<{ pending: number; parsed: number; contents: number }>`
        select count(*) filter (where parse_status = 'pending')::int as pending,
               count(*) filter (where parse_status = 'parsed')::int as parsed,
               (select count(*)::int from mail_content) as contents
        from mail_raw`.execute(tx.db)
      return rows[0]
    })
  await vi.waitUntil(async () => (await counts())?.pending === 0, {
    timeout: 240_000,
    interval: 200,
  })
  expect(await counts()).toEqual({ pending: 0, parsed: MESSAGES, contents: MESSAGES })
}

describe(`of ${MESSAGES} messages by ${SENDERS} senders each is kept once`, () => {
  const timeout = isWhole ? 1_200_000 : 300_000

  test(`while the service is killed ${KILLS} times`, { timeout }, async () => {
    let kills = 0
    await sendWhile(async () => {
      await croft.kill()
      kills += 1
      croft = await service.start()
    })
    expect(kills).toBe(KILLS)
    await expectAllOnce()
    await expectAllParsed()
  })

  test(`while the database cuts every connection ${KILLS} times`, { timeout }, async () => {
    let cut = 0
    await sendWhile(() =>
      asAdmin(async (admin) => {
        const ended = await admin`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'croft'
            and pid <> pg_backend_pid()`
        cut += ended.length
      }, service.url),
    )
    expect(cut).toBeGreaterThan(KILLS)
    await expectAllOnce()
    await expectAllParsed()
  })
})
