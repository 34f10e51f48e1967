import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'

import type { CroftProcess } from '#test/croft-process.ts'
import { killableMailSite } from '#test/killable-mail-site.ts'
import type { KillableService } from '#test/killable-service.ts'
import { sendAll } from '#test/retrying-sender.ts'
import { shareOf } from '#test/share.ts'

const [MESSAGES, KILLS] = [30 + shareOf(300), 1 + shareOf(10)]

let cleanUp: AsyncDisposableStack
let service: KillableService
let smtpPort: number
let croft: CroftProcess
let siteId: string
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  ;({ service, smtpPort, croft, siteId } = await killableMailSite(cleanUp, ['info']))
})
afterEach(() => cleanUp.disposeAsync())

/** Each with an attachment of its own. */
const messageOf = (index: number): string =>
  [
    'From: a@a.test',
    `Subject: Number ${index}`,
    `Message-ID: <${index}@a.test>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    '',
    `words${index}`,
    '--b',
    `Content-Type: application/octet-stream; name=f${index}.bin`,
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(`bytes of ${index}`).toString('base64'),
    '--b--',
    '',
  ].join('\r\n')

const rowsOf = () =>
  service.database.withSite(siteId, (tx) =>
    tx.db
      .selectFrom('mail_message as m')
      .innerJoin('mail_content as c', 'c.raw_id', 'm.raw_id')
      .select(['m.message_id as id', 'm.thread_id as threadId', 'm.subject', 'm.snippet'])
      .select(['m.has_attachments as hasAttachments', 'c.text', 'c.attachments', 'm.seen'])
      .orderBy('m.message_id')
      .execute(),
  )

const count = (condition: string): Promise<number> =>
  service.database.withSite(siteId, async (tx) => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from mail_raw where ${sql.raw(condition)}`.execute(tx.db)
    return rows[0]?.count ?? -1
  })

/** As an earlier version might have left it: nothing decoded, and half of the attachments with other bytes. */
const spoil = () =>
  service.database.withSite(siteId, async (tx) => {
    await sql`update mail_raw set parse_version = 0`.execute(tx.db)
    await sql`update mail_content set text = 'spoiled', attachments = case
      when right(raw_id, 1) < 'h' then jsonb_set(attachments, '{0,sizeBytes}', '3') else attachments end`.execute(
      tx.db,
    )
    await sql`update mail_message set subject = 'spoiled', snippet = '', has_attachments = false,
      seen = true`.execute(tx.db)
  })

test(
  'Messages that are parsed again survive kills of the service',
  { timeout: 300_000 },
  async () => {
    const envelopes = Array.from({ length: MESSAGES }, (_, index) => ({
      recipients: ['info@kept.test'],
      message: messageOf(index),
    }))
    await sendAll(smtpPort, envelopes, () => {})
    await croft.until('all are parsed', async () => (await count(`parse_status = 'pending'`)) === 0)
    const before = await rowsOf()
    expect(before).toHaveLength(MESSAGES)
    await croft.stop()
    await spoil()
    for (let kill = 1; kill <= KILLS; kill += 1) {
      croft = await service.start()
      const most = MESSAGES - (kill * MESSAGES) / (KILLS + 1)
      await croft.until(
        `some are parsed again`,
        async () => (await count('parse_version = 0')) <= most,
      )
      await croft.kill()
      expect(await count('parse_version = 0')).toBeGreaterThan(0)
    }
    croft = await service.start()
    await croft.until('all are parsed again', async () => (await count('parse_version = 0')) === 0)
    const after = await rowsOf()
    const withoutObjects = (rows: typeof after) =>
      rows.map(({ attachments, ...row }) => ({
        ...row,
        seen: true,
        attachments: (attachments as { objectId?: string }[]).map((attachment) => ({
          ...attachment,
          objectId: undefined,
        })),
      }))
    expect(withoutObjects(after)).toEqual(withoutObjects(before))
    const { json } = await croft.call({
      path: `/portal/api/sites/${siteId}/mail-verification/messages?bytes=true`,
      headers: { authorization: `Bearer ${service.operatorKey}` },
    })
    expect(json.findings).toEqual([])
  },
)
