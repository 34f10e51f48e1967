import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { mailPrefix, partKey, rawKey } from '#mail/objects/mail-keys.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import type { Answer } from '#test/http-client.ts'
import { type MailRow, type StoredMail, storeMail } from '#test/mail-rows.ts'
import { asAdmin } from '#test/postgres.ts'
import { type Stack, startStack } from '#test/stack.ts'

const DAY_MS = 24 * 3_600_000
const NEVER = new AbortController().signal

let stack: Stack
let ann: Member
/** Added to the time of the service. */
let aheadMs = 0
beforeAll(async () => {
  const clock = { now: () => new Date(Date.now() + aheadMs) }
  stack = await startStack({ platform: { clock } })
  ann = await new AdminPool(stack, 'one.test').first()
})
afterAll(() => stack[Symbol.asyncDispose]())

let made = 0
async function mailbox(): Promise<string> {
  const address = `removal-${++made}@one.test`
  const answer = await ann.call('POST', '/mailboxes', { body: { address, owners: [ann.userId] } })
  if (answer.status !== 200) throw new Error(answer.text)
  return address
}
const store = (address: string, row: Omit<MailRow, 'mailbox'> = {}): Promise<StoredMail> =>
  storeMail(stack, { mailbox: address, ...row })
const post = (path: string, body?: unknown): Promise<Answer> =>
  ann.call('POST', `/messages/${path}`, { ...(body !== undefined && { body }) })
const remove = (messageId: string) => ann.call('DELETE', `/messages/${messageId}`)
const isThere = async ({ messageId }: StoredMail): Promise<boolean> =>
  (await ann.call('GET', `/messages/${messageId}`)).status === 200
const usage = async (address: string) =>
  (await ann.call('GET', `/mailboxes/${address}/settings`)).json.usage
const siteId = async () => (await stack.context.sites.find('one.test')).siteId
async function objectsOf({ rawId }: Pick<StoredMail, 'rawId'>): Promise<number> {
  const prefix = mailPrefix(await siteId()) + rawId
  return (await stack.context.objects.list({ prefix, maxKeys: 10 })).objects.length
}
const removed = (mail: Pick<StoredMail, 'rawId'>) =>
  vi.waitUntil(async () => (await objectsOf(mail)) === 0, { timeout: 20_000, interval: 20 })
const PART = { attachmentId: 'a1', filename: 'a', contentType: 'text/plain', bytes: 'a' }

describe('purging', () => {
  test('a message takes its row, its counts and its objects', async () => {
    const box = await mailbox()
    const mail = await store(box, { attachments: [PART] })
    const kept = await store(box)
    expect((await usage(box)).messages).toBe(2)
    expect((await post(`${mail.messageId}/purge`)).status).toBe(204)
    expect(await isThere(mail)).toBe(false)
    expect(await usage(box)).toEqual({ bytes: Buffer.byteLength(kept.raw), messages: 1 })
    await removed(mail)
    expect(await objectsOf(kept)).toBe(1)
    expect((await post(`${mail.messageId}/purge`)).json.error.code).toBe('MessageNotFound')
  })

  test('a message from one of its mailboxes keeps the objects for the other', async () => {
    const [first, second] = [await mailbox(), await mailbox()]
    const mail = await store(first)
    const twin = await store(second, { rawId: mail.rawId, raw: mail.raw })
    await post(`${mail.messageId}/purge`)
    const gone = await store(first)
    await post(`${gone.messageId}/purge`)
    // Objects of the later one are gone: the job has looked at both.
    await removed(gone)
    expect(await objectsOf(mail)).toBe(1)
    await post(`${twin.messageId}/purge`)
    await removed(mail)
  })

  test('several without force leaves what is not in the trash, and says so', async () => {
    const box = await mailbox()
    const [inbox, trashed, deleted] = [await store(box), await store(box), await store(box)]
    for (const each of [trashed, deleted, deleted]) await remove(each.messageId)
    const messageIds = [inbox, trashed, deleted].map(({ messageId }) => messageId)
    const asked = { messageIds: [...messageIds, ...messageIds, 'msg_none'] }
    const { json } = await post('purge', asked)
    expect(json.purged).toEqual([trashed.messageId, deleted.messageId])
    expect(
      json.failed.map(({ messageId, code }: Record<string, string>) => [messageId, code]),
    ).toEqual([
      [inbox.messageId, 'MessageNotInTrash'],
      ['msg_none', 'MessageNotFound'],
    ])
    const forced = await post('purge', { ...asked, force: true })
    expect(forced.json.purged).toEqual([inbox.messageId])
    expect((await usage(box)).messages).toBe(0)
  })

  test.each([[[]], [Array.from({ length: 1001 }, (_, n) => `m${n}`)], ['m1'], [['a\0']]])(
    'several is refused a list that is none',
    async (messageIds) => {
      expect((await post('purge', { messageIds })).json.error.code).toBe('ValidationError')
    },
  )

  test('what was deleted counts first, takes no more than it says, and not the trash', async () => {
    const [box, other] = [await mailbox(), await mailbox()]
    const [inbox, trashed] = [await store(box), await store(box)]
    const [deleted, elsewhere] = [await store(box), await store(other)]
    for (const each of [trashed, deleted, deleted, elsewhere, elsewhere]) {
      await remove(each.messageId)
    }
    const filters = { mailbox: box }
    expect((await post('purge-deleted', { filters })).json.error.code).toBe('ConfirmationRequired')
    const none = { matchedCount: 1, deletedCount: 0, failedCount: 0, dryRun: true }
    expect((await post('purge-deleted', { filters, dryRun: true })).json).toEqual(none)
    expect(await isThere(deleted)).toBe(true)
    const some = { matchedCount: 1, deletedCount: 1, failedCount: 0, dryRun: false }
    expect((await post('purge-deleted', { filters, confirm: true })).json).toEqual(some)
    expect(await isThere(deleted)).toBe(false)
    const trash = { filters: { ...filters, includeTrash: true }, confirm: true }
    expect((await post('purge-deleted', trash)).json).toEqual(some)
    for (const [mail, there] of [
      [inbox, true],
      [trashed, false],
      [elsewhere, true],
    ] as const) {
      expect(await isThere(mail)).toBe(there)
    }
    const unknown = { filters: { mailbox: 'nobody@one.test' }, confirm: true }
    expect((await post('purge-deleted', unknown)).json.error.code).toBe('MailboxNotFound')
  })

  test('everything takes what the site has, in batches, and nothing of another site', async () => {
    const domain = 'all.test'
    await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
    const first = await new AdminPool(stack, domain).first()
    const body = { address: `info@${domain}`, owners: [first.userId] }
    await first.call('POST', '/mailboxes', { body })
    for (let n = 0; n < 5; n++) await storeMail(stack, { mailbox: `info@${domain}` })
    const kept = await store(await mailbox())
    const purgeAll = (asked: object) => first.call('POST', '/messages/purge-all', { body: asked })
    expect((await purgeAll({})).json.error.code).toBe('ConfirmationRequired')
    expect((await purgeAll({ dryRun: true })).json).toMatchObject({
      matchedCount: 5,
      deletedCount: 0,
    })
    const all = { matchedCount: 5, deletedCount: 5, failedCount: 0, dryRun: false }
    expect((await purgeAll({ confirm: true })).json).toEqual(all)
    expect((await first.call('GET', '/messages')).json.items).toEqual([])
    expect(await isThere(kept)).toBe(true)
  })

  test('at once from several sides ends, and the counts are right', async () => {
    const [one, two] = [await mailbox(), await mailbox()]
    const mails: StoredMail[] = []
    for (let n = 0; n < 12; n++) {
      const mail = await store(one)
      mails.push(mail, await store(two, { rawId: mail.rawId, raw: mail.raw }))
    }
    const ids = mails.map(({ messageId }) => messageId)
    const answers = await Promise.all([
      post('purge', { messageIds: ids, force: true }),
      post('purge', { messageIds: ids.toReversed(), force: true }),
      ...ids.slice(0, 6).map((id) => post(`${id}/purge`)),
      ...ids.slice(6, 12).map((id) => remove(id)),
      ...ids.slice(12, 18).map((id) => post(`${id}/seen`, { seen: true })),
      ...[one, two].map((box) => store(box)),
    ])
    const refused = answers.filter((answer) => 'status' in answer && answer.status >= 500)
    expect(refused).toEqual([])
    expect((await usage(one)).messages).toBe(1)
    expect((await usage(two)).messages).toBe(1)
    for (const mail of mails) await removed(mail)
  })
})

describe('removal', () => {
  test('takes the messages of a mailbox that was purged, and their objects', async () => {
    const box = await mailbox()
    const mails = [await store(box), await store(box)]
    await ann.call('DELETE', `/mailboxes/${box}`)
    await ann.call('POST', `/mailboxes/${box}/purge`, { body: { confirm: true } })
    for (const mail of mails) {
      expect(await isThere(mail)).toBe(false)
      await removed(mail)
    }
    const rows = await stack.inSite('one.test', (tx) =>
      tx.db
        .selectFrom('mail_message')
        .select('message_id')
        .where(
          'message_id',
          'in',
          mails.map(({ messageId }) => messageId),
        )
        .execute(),
    )
    expect(rows).toEqual([])
  })

  test('empties trash after its days, counted from when a message went there', async () => {
    const [expiring, keeping] = [await mailbox(), await mailbox()]
    const body = { trashAutoPurge: true, trashRetentionDays: 2 }
    await ann.call('PUT', `/mailboxes/${expiring}/settings`, { body })
    const [old, again, fresh, inbox] = [
      await store(expiring),
      await store(expiring),
      await store(expiring),
      await store(expiring),
    ]
    const kept = await store(keeping)
    for (const mail of [old, again, kept]) await remove(mail.messageId)
    const purge = async () => stack.context.mailRemoval.purgeExpiredTrash(await siteId(), NEVER)
    try {
      aheadMs = DAY_MS
      // Her first token has expired by then.
      const later = await new AdminPool(stack, 'one.test').first()
      await later.call('POST', `/messages/${again.messageId}/restore`)
      for (const mail of [again, fresh]) {
        await later.call('DELETE', `/messages/${mail.messageId}`)
      }
      aheadMs = 2 * DAY_MS + 60_000
      await purge()
    } finally {
      aheadMs = 0
    }
    expect(await Promise.all([old, again, fresh, inbox, kept].map(isThere))).toEqual([
      false,
      true,
      true,
      true,
      true,
    ])
    expect((await usage(expiring)).messages).toBe(3)
  })

  test('takes objects that never got a row, once they are a day old', async () => {
    const mail = await store(await mailbox())
    const orphan = { rawId: 'raw_orphan' }
    const key = rawKey(await siteId(), orphan.rawId)
    await stack.context.objects.put(key, Buffer.from('never accepted'))
    const sweep = async () => stack.context.mailRemoval.sweepOrphans(await siteId(), NEVER)
    await sweep()
    expect(await objectsOf(orphan)).toBe(1)
    try {
      aheadMs = DAY_MS + 60_000
      await sweep()
    } finally {
      aheadMs = 0
    }
    expect(await objectsOf(orphan)).toBe(0)
    expect(await objectsOf(mail)).toBe(1)
  })

  test('takes attachments that are listed no longer, a day after the message was parsed again', async () => {
    const box = await mailbox()
    const [again, never] = [
      await store(box, { attachments: [PART] }),
      await store(box, { attachments: [PART] }),
    ]
    for (const { rawId } of [again, never]) {
      await stack.context.objects.put(partKey(await siteId(), rawId, 'unlisted'), Buffer.from('x'))
    }
    await stack.inSite('one.test', (tx) =>
      tx.db
        .updateTable('mail_raw')
        .set({ reparsed_at: new Date() })
        .where('raw_id', '=', again.rawId)
        .execute(),
    )
    const sweptAfter = async (ms: number) => {
      aheadMs = ms
      try {
        await stack.context.mailRemoval.sweepOrphans(await siteId(), NEVER)
      } finally {
        aheadMs = 0
      }
      return [await objectsOf(again), await objectsOf(never)]
    }
    expect(await sweptAfter(DAY_MS - 60_000)).toEqual([3, 3])
    expect(await sweptAfter(DAY_MS + 60_000)).toEqual([2, 3])
  })

  test('leaves no row of a site that was deleted', async () => {
    const domain = 'gone.test'
    const made = await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
    const first = await new AdminPool(stack, domain).first()
    const body = { address: `info@${domain}`, owners: [first.userId] }
    await first.call('POST', '/mailboxes', { body })
    for (let n = 0; n < 3; n++) await storeMail(stack, { mailbox: `info@${domain}` })
    await stack.context.sites.delete(made.siteId)
    const rows = async () => {
      let left = -1
      await asAdmin(async (owner) => {
        const [row] = await owner`
          select (select count(*) from mail_message where site_id = ${made.siteId})
               + (select count(*) from mail_raw where site_id = ${made.siteId})
               + (select count(*) from mail_content where site_id = ${made.siteId})
               + (select count(*) from mail_search where site_id = ${made.siteId}) as left`
        left = Number(row?.['left'])
      }, stack.database.url)
      return left
    }
    await vi.waitUntil(async () => (await rows()) === 0, { timeout: 20_000, interval: 50 })
    expect(await rows()).toBe(0)
  })
})
