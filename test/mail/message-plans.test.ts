import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type MessageQuery, parseMessageFilter } from '#mail/messages/message-filter.ts'
import { Messages } from '#mail/messages/messages.ts'
import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'
import { from } from '#test/accounts-desk.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { storeCrowd } from '#test/mail-crowd.ts'
import { asAdmin } from '#test/postgres.ts'
import { explaining } from '#test/query-plans.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

const MESSAGES = 20_000

let stack: Stack
let ann: Member
let postgres: PostgresPlatform
beforeAll(async () => {
  stack = await startStack()
  ann = await new AdminPool(stack, 'one.test').first()
  for (const name of ['big', 'other']) await fill(name)
  postgres = await connectPostgres({ url: stack.database.url, log: silentLog, poolSize: 2 })
}, 120_000)
afterAll(async () => {
  await postgres[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

async function fill(name: string): Promise<void> {
  const body = { address: `${name}@one.test`, owners: [ann.userId] }
  await ann.call('POST', '/mailboxes', { body })
  const found = await stack.inSite('one.test', (tx, { siteId }) =>
    tx.db
      .selectFrom('mailbox')
      .select(['site_id as siteId', 'mailbox_id as mailboxId'])
      .where('site_id', '=', siteId)
      .where('local_part', '=', name)
      .executeTakeFirstOrThrow(),
  )
  await asAdmin(
    (owner) => storeCrowd(owner, { ...found, messages: MESSAGES, name }),
    stack.database.url,
  )
}

/** The plans of all that a list reads. */
async function read(query: MessageQuery, mailbox: string | undefined, after?: string) {
  const site = await stack.context.sites.find('one.test')
  const { database, plans } = explaining(postgres.database)
  const messages = new Messages({ ...stack.context, database })
  const reader = { type: 'operator', origin: from() } as const
  const listed = { mailbox, filter: parseMessageFilter(query) }
  await messages.list(site, reader, listed, { limit: 50, after })
  return plans.join('\n')
}

const LATER = new Date(Date.now() - 5000 * 60_000).toISOString()

describe('no table of messages is read from end to end', () => {
  test.each<[string, MessageQuery, string | undefined, string | undefined, string]>([
    ['the first page', {}, 'big@one.test', undefined, 'mail_message_by_folder'],
    ['a late page', {}, 'big@one.test', `${LATER}/msg_`, 'mail_message_by_folder'],
    ['a folder', { folder: 'archive' }, 'big@one.test', undefined, 'mail_message_by_folder'],
    ['the trash', { folder: 'trash' }, 'big@one.test', undefined, 'mail_message_by_folder'],
    ['all mailboxes', {}, undefined, undefined, 'mail_message_by_folder'],
    [
      'a conversation',
      { threadId: 'thr_big7' },
      'big@one.test',
      undefined,
      'mail_message_by_thread',
    ],
    ['what was not seen', { seen: 'false' }, 'big@one.test', undefined, 'mail_message_unseen'],
    ['a window of time', { startTime: LATER }, 'big@one.test', undefined, 'mail_message_by_folder'],
    ['a rare word', { q: 'only77' }, 'big@one.test', undefined, 'mail_search_by_words'],
    ['a rare word everywhere', { q: 'only77' }, undefined, undefined, 'mail_search_by_words'],
    ['a common word', { q: 'everywhere' }, 'big@one.test', undefined, 'mail_search_pkey'],
  ])('for %s', async (_what, query, mailbox, after, index) => {
    const plans = await read(query, mailbox, after)
    expect(plans).not.toMatch(/Seq Scan on mail_/)
    expect(plans).toContain(index)
    // By time a search would pass over all that has other words.
    expect(query.q !== undefined && plans.includes('mail_message_by_time')).toBe(false)
  })
})
