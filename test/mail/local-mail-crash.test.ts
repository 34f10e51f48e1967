import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { CroftProcess } from '#test/croft-process.ts'
import { type KillableService, killableService } from '#test/killable-service.ts'
import { makeOwnMailboxes, sendWhileKilled } from '#test/killed-sender.ts'
import { portalOf } from '#test/operator.ts'
import { isWhole, shareOf } from '#test/share.ts'

const [MESSAGES, KILLS] = [shareOf(1000), shareOf(20)]
/** Each may send to 120 recipients a minute. */
const MAILBOXES = Array.from({ length: shareOf(20) }, (_, at) => `box-${at}@sent.test`)

let cleanUp: AsyncDisposableStack
let service: KillableService
let croft: CroftProcess
const siteIds = new Map<string, string>()
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  service = await killableService(cleanUp)
  croft = await service.start()
  const portal = portalOf(croft, service.operatorKey)
  for (const site of ['sent.test', 'kept.test']) {
    siteIds.set(site, (await portal.createSite(site)).json.siteId)
  }
})
afterEach(() => cleanUp.disposeAsync())

async function callerOf(site: string) {
  const token = await portalOf(croft, service.operatorKey).token(site, `ann@${site}`)
  return (method: string, path: string, body?: unknown, key = 'none') =>
    croft.call({
      host: site,
      method,
      path: `/admin/api${path}`,
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': key },
      ...(body !== undefined && { body }),
    })
}

async function makeMailboxes(site: string, addresses: readonly string[]) {
  const call = await callerOf(site)
  await makeOwnMailboxes(call, addresses)
  return call
}

/** Of every accepted message its recipient has one, whenever the service dies between acceptance and delivery. */
test(
  `of ${MESSAGES} messages between sites each arrives once, while the service is killed ${KILLS} times`,
  { timeout: isWhole ? 3_600_000 : 300_000 },
  async () => {
    await makeMailboxes('kept.test', ['info@kept.test'])
    const call = await makeMailboxes('sent.test', MAILBOXES)
    await sendWhileKilled(call, {
      messages: MESSAGES,
      kills: KILLS,
      mailboxes: MAILBOXES,
      recipientOf: () => 'info@kept.test',
      kill: async () => {
        await croft.kill()
        croft = await service.start()
      },
    })
    await vi.waitUntil(async () => (await statuses()).every((status) => status !== 'queued'), {
      timeout: isWhole ? 3_000_000 : 240_000,
      interval: 500,
    })
    expect(new Set(await statuses())).toEqual(new Set(['sent']))
    const subjects = Array.from({ length: MESSAGES }, (_, index) => `Number ${index}`)
    expect((await received()).toSorted()).toEqual(subjects.toSorted())
  },
)

const statuses = (): Promise<string[]> =>
  service.database.withSite(siteIds.get('sent.test') ?? '', async (tx) => {
    const { rows } = await sql<{ status: string }>`select status from mail_recipient`.execute(tx.db)
    return rows.map(({ status }) => status)
  })

const received = (): Promise<string[]> =>
  service.database.withSite(siteIds.get('kept.test') ?? '', async (tx) => {
    const { rows } = await sql<{ subject: string }>`select subject from mail_message`.execute(tx.db)
    return rows.map(({ subject }) => subject)
  })
