import { afterAll, beforeAll, expect, test } from 'vitest'

import { from } from '#test/accounts-desk.ts'
import { AdminPool } from '#test/admin-api.ts'
import { type Stack, startStack } from '#test/stack.ts'

const BOX = 'info@one.test'

let stack: Stack
let ann: string
beforeAll(async () => {
  stack = await startStack({ works: false })
  const admin = await new AdminPool(stack, 'one.test').first()
  ann = admin.userId
  for (const address of [BOX, 'other@one.test']) {
    const body = { address, owners: [ann] }
    await admin.call('POST', '/mailboxes', { body })
  }
})
afterAll(() => stack[Symbol.asyncDispose]())

const BY = { type: 'operator', origin: from() } as const

async function change(enabled: boolean, address = BOX): Promise<void> {
  const site = await stack.context.sites.find('one.test')
  await stack.context.forwarding.change(site, BY, address, { enabled })
}

async function add(...targets: string[]): Promise<void> {
  const site = await stack.context.sites.find('one.test')
  await stack.context.forwardingTargets.add(site, BY, BOX, targets)
}

const verify = (...targets: string[]) =>
  stack.inSite('one.test', (tx, { siteId }) =>
    tx.db
      .updateTable('mail_forwarding_target')
      .set({ verified_at: new Date() })
      .where('site_id', '=', siteId)
      .where('target', 'in', targets)
      .execute(),
  )

/** As the delivery of mail asks for them; the ids of mailboxes of another site name none of its own. */
async function routes(host = 'one.test') {
  const ids = await stack.inSite('one.test', async (tx, { siteId }) => {
    const rows = await tx.db
      .selectFrom('mailbox')
      .select('mailbox_id')
      .where('site_id', '=', siteId)
      .execute()
    return rows.map((row) => row.mailbox_id)
  })
  return stack.inSite(host, (tx) => stack.context.forwarding.routes(tx, ids))
}

test('mail goes to verified targets of an active mailbox that forwards, and to no others', async () => {
  expect(await routes()).toEqual([])
  await change(true)
  await change(true, 'other@one.test')
  await add('eve@example.org', 'bob@example.org', 'cy@example.org')
  expect(await routes()).toEqual([])

  await verify('eve@example.org', 'bob@example.org')
  const route = { mailboxId: expect.any(String), keepCopy: true }
  expect(await routes()).toEqual([{ ...route, targets: ['bob@example.org', 'eve@example.org'] }])
  expect(await routes('two.test')).toEqual([])

  const site = await stack.context.sites.find('one.test')
  await stack.context.forwardingTargets.remove(site, BY, BOX, ['eve@example.org'])
  await stack.context.forwarding.change(site, BY, BOX, { keepCopy: false })
  expect(await routes()).toEqual([{ ...route, keepCopy: false, targets: ['bob@example.org'] }])

  await stack.context.mailboxes.disable(site, BY, BOX)
  expect(await routes()).toEqual([])
  await stack.context.mailboxes.restore(site, BY, { address: BOX })
  expect(await routes()).toEqual([])
  await change(true)
  expect(await routes()).toHaveLength(1)
})
