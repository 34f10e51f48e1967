import { afterAll, beforeAll, expect, test } from 'vitest'

import { MailVerification } from '#mail/verification/mail-verification.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { makeMailboxes } from '#test/inbound-mail.ts'
import { storeMail } from '#test/mail-rows.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

const TOMORROW = { now: () => new Date(Date.now() + 25 * 3_600_000) }

let stack: Stack
let postgres: PostgresPlatform
let ann: Member
beforeAll(async () => {
  stack = await startStack({ sites: ['one.test'], works: false })
  postgres = await connectPostgres({ url: stack.database.url, log: silentLog, poolSize: 4 })
  await makeMailboxes(stack, 'one.test', ['info'])
  ann = await new AdminPool(stack, 'one.test').first()
})
afterAll(async () => {
  await postgres[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

/** Looks at mail while something happens: between its rows and the first listing, or behind that. */
function verificationWith(happening: {
  readonly before?: () => Promise<unknown>
  readonly behind?: () => Promise<unknown>
}): MailVerification {
  const { objects } = stack.context
  let { before, behind } = happening
  const list: ObjectStore['list'] = async (options) => {
    await before?.()
    before = undefined
    const listed = await objects.list(options)
    await behind?.()
    behind = undefined
    return listed
  }
  const head: ObjectStore['head'] = (key) => objects.head(key)
  const get: ObjectStore['get'] = (...named) => objects.get(...named)
  return new MailVerification({ ...postgres, clock: TOMORROW, objects: { list, head, get } })
}

/** As a purge and the job behind it do. */
async function purge({ messageId }: { readonly messageId: string }): Promise<void> {
  await ann.call('POST', `/messages/${messageId}/purge`)
  const { siteId } = await stack.context.sites.find('one.test')
  await stack.context.mailRemoval.run({ siteId }, new AbortController().signal)
}

test('a message that is purged while its objects are looked for is no finding', async () => {
  const site = await stack.context.sites.find('one.test')
  const mail = await storeMail(stack, { mailbox: 'info@one.test' })
  const verification = verificationWith({ before: () => purge(mail) })
  const asked = { after: undefined, reading: false }
  expect(await verification.messages(site, asked)).toMatchObject({ checked: 1, findings: [] })
})

test('objects whose message is purged while rows are looked for are no finding', async () => {
  const site = await stack.context.sites.find('one.test')
  const mail = await storeMail(stack, { mailbox: 'info@one.test' })
  const verification = verificationWith({ behind: () => purge(mail) })
  expect(await verification.objects(site, undefined)).toMatchObject({ checked: 1, findings: [] })
})
