import { afterAll, beforeAll, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'
import type { ActorContext } from '#identity/actor.ts'
import type { MailboxOwnership } from '#identity/admin-users/mailbox-ownership.ts'
import type { Site } from '#sites/site.ts'
import { IdentityCluster, type Replica } from '#test/identity-replica.ts'

const BY: ActorContext = {
  actor: { userId: 'sue', email: 'sue@x.org', role: 'super-admin' },
  origin: { address: '203.0.113.7', userAgent: '', requestId: 'r' },
}

let cluster: IdentityCluster
let replica: Replica
let site: Site
/** What mail was asked, and what the deletion had done by then. */
const asked: { readonly sub: string; readonly stillThere: boolean }[] = []
let soleOwner: string | undefined

const mail: MailboxOwnership = {
  async userDeleted(tx, _site, sub) {
    const row = await tx.db
      .selectFrom('pool_user')
      .select('sub')
      .where('sub', '=', sub)
      .executeTakeFirst()
    asked.push({ sub, stillThere: row !== undefined })
    if (sub !== soleOwner) return
    throw new AppError('MailboxOwnershipConflict', 'Mailboxes would be left without an owner', {
      details: [{ field: 'mailbox', message: 'info@one.test' }],
    })
  },
}

beforeAll(async () => {
  cluster = await IdentityCluster.start()
  replica = await cluster.replica({ mailboxOwnership: mail })
  site = (await cluster.createSite(replica, 'one.test')).site
})
afterAll(() => cluster[Symbol.asyncDispose]())

test('a user who alone owns a mailbox is not deleted, and nothing else is undone', async () => {
  const { userId } = await replica.adminUsers.create(site, BY, { email: 'sole@one.test' })
  soleOwner = userId
  await expect(replica.adminUsers.delete(site, BY, userId)).rejects.toMatchObject({
    code: 'MailboxOwnershipConflict',
    details: [{ field: 'mailbox', message: 'info@one.test' }],
  })
  expect((await replica.profiles.get(site, userId)).primaryEmail).toBe('sole@one.test')
})

test('mail hears of a deletion while the user is still there, once it is allowed', async () => {
  const { userId } = await replica.adminUsers.create(site, BY, { email: 'goes@one.test' })
  const { items } = await replica.adminUsers.list(site, { limit: 1, after: undefined })
  asked.length = 0
  const admin: ActorContext = { ...BY, actor: { ...BY.actor, role: 'admin' } }
  await expect(
    replica.adminUsers.delete(site, admin, items[0]?.userId ?? ''),
  ).rejects.toMatchObject({ code: 'Forbidden' })
  await replica.adminUsers.delete(site, BY, userId)
  expect(asked).toEqual([{ sub: userId, stillThere: true }])
})
