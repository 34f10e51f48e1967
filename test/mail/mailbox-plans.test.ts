import { afterAll, beforeAll, expect, test } from 'vitest'

import { connectPostgres } from '#platform/postgres/postgres.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { asAdmin } from '#test/postgres.ts'
import { explaining } from '#test/query-plans.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** Of each site, and as many aliases. */
const MAILBOXES = 20_000
/** Of these, all are Ann's, and the first ones Ursula's too. */
const HERS = 5
const WHOLE = /Seq Scan on (?:mailbox|mailbox_owner|mail_address|mail_alias|mail_alias_target)\b/

const resources = new AsyncDisposableStack()
let plans: string[]
let there: Stack
let ann: Member
let ursula: Member
beforeAll(async () => {
  const stack = resources.use(await startStack())
  const pool = new AdminPool(stack, 'one.test')
  const owners = {
    'one.test': await pool.first(),
    'two.test': await new AdminPool(stack, 'two.test').first(),
  }
  const joined = await pool.joined('user')
  for (const [domain, { userId }] of Object.entries(owners)) {
    const { siteId } = await stack.context.sites.find(domain)
    await fill(stack.database.url, siteId, [userId, joined.userId])
  }
  const { url } = stack.database
  await asAdmin((admin) => admin`analyze`, url)
  const postgres = resources.use(await connectPostgres({ url, log: silentLog, poolSize: 4 }))
  const explained = explaining(postgres.database)
  plans = explained.plans
  const platform = { postgres: { ...postgres, database: explained.database } }
  there = resources.use(await startStack({ beside: stack, works: false, platform }))
  ann = await pool.named(owners['one.test'].email, there)
  ursula = await pool.named(joined.email, there)
})
afterAll(() => resources.disposeAsync())

const fill = (url: string, siteId: string, [all = '', first = '']: readonly string[]) =>
  asAdmin(async (admin) => {
    await admin`insert into mail_address (site_id, local_part, kind)
      select ${siteId}, 'box' || n, 'mailbox' from generate_series(1, ${MAILBOXES}::int) n
      union all
      select ${siteId}, 'alias' || n, 'alias' from generate_series(1, ${MAILBOXES}::int) n`
    await admin`insert into mailbox (site_id, mailbox_id, local_part)
      select ${siteId}, 'mbx_' || n, 'box' || n from generate_series(1, ${MAILBOXES}::int) n`
    await admin`insert into mailbox_owner (site_id, mailbox_id, user_pool_id, sub)
      select site_id, 'mbx_' || n, user_pool_id, sub
      from generate_series(1, ${MAILBOXES}::int) n, pool_user
      where site_id = ${siteId} and (sub = ${all} or sub = ${first} and n <= ${HERS}::int)`
    await admin`insert into mail_alias (site_id, local_part)
      select ${siteId}, 'alias' || n from generate_series(1, ${MAILBOXES}::int) n`
    await admin`insert into mail_alias_target (site_id, local_part, mailbox_id)
      select ${siteId}, 'alias' || n, 'mbx_' || n from generate_series(1, ${MAILBOXES}::int) n`
    await admin`insert into mail_usage (site_id) values (${siteId})`
  }, url)

async function answer(by: Member, method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await by.call(method, path, { body })
  expect(status, text).toBeLessThan(300)
}

async function resolve(localPart: string, kind: string): Promise<void> {
  const { siteId } = await there.context.sites.find('one.test')
  expect(await there.context.recipients.resolve(siteId, localPart)).toMatchObject({ kind })
}

async function nextPage(list: string): Promise<void> {
  const { json } = await ann.call('GET', `/${list}?limit=100`)
  await answer(ann, 'GET', `/${list}?limit=100&nextToken=${json.nextToken}`)
}

test.each<[string, () => Promise<void>]>([
  ['a user’s list of mailboxes', () => answer(ursula, 'GET', '/mailboxes')],
  ['an admin’s list of mailboxes, page by page', () => nextPage('mailboxes')],
  ['the list of aliases, page by page', () => nextPage('aliases')],
  ['a user’s mailbox', () => answer(ursula, 'GET', '/mailboxes/box3@one.test/settings')],
  ['the recipient of a message', () => resolve('box77+x', 'deliverable')],
  ['the recipients behind an alias', () => resolve('alias77', 'deliverable')],
  ['nobody', () => resolve('nobody+x', 'unknown')],
  [
    'the owners of a mailbox',
    () => answer(ann, 'POST', '/mailboxes/box9@one.test/owners', { owners: [ursula.userId] }),
  ],
  [
    'the targets of an alias',
    () => answer(ann, 'PUT', '/aliases/alias9@one.test', { targets: ['box1@one.test'] }),
  ],
  [
    'what a user alone owns',
    async () => {
      const { status, json } = await ann.call('DELETE', `/users/${ursula.userId}`)
      expect([status, json?.error?.code]).toEqual([204, undefined])
    },
  ],
])('Indexes alone find %s', async (_what, call) => {
  plans.length = 0
  await call()
  const mail = plans.filter((plan) => /\b(?:mailbox|mail_\w+)\b/.test(plan))
  expect(mail.length).toBeGreaterThan(0)
  for (const plan of mail) expect(plan).not.toMatch(WHOLE)
})
