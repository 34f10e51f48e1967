import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { SiteTx } from '#platform/postgres/database.ts'
import { AdminPool } from '#test/admin-api.ts'
import { storeCrowd } from '#test/mail-crowd.ts'
import { storeMail } from '#test/mail-rows.ts'
import { asAdmin } from '#test/postgres.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
  for (const host of ['one.test', 'two.test']) {
    const ann = await new AdminPool(stack, host).first()
    const body = { address: `info@${host}`, owners: [ann.userId] }
    await ann.call('POST', '/mailboxes', { body })
    await storeMail(stack, { mailbox: `info@${host}`, text: 'a word of ours' })
  }
})
afterAll(() => stack[Symbol.asyncDispose]())

const found = async (tx: SiteTx) =>
  (await sql<{ siteId: string }>`select site_id as "siteId" from mail_search`.execute(tx.db)).rows

describe('the words of messages', () => {
  test('are seen through a query alone, and only those of the site', async () => {
    await stack.inSite('one.test', async (tx, { siteId }) => {
      expect(await found(tx)).toEqual([])
      await sql`select set_config('app.mail_query', '''word''', true)`.execute(tx.db)
      expect(await found(tx)).toEqual([{ siteId }])
      await sql`select set_config('app.mail_query', '''wrong''', true)`.execute(tx.db)
      expect(await found(tx)).toEqual([])
    })
  })

  test('are looked for in their index, which row-level security keeps from a condition', async () => {
    await stack.inSite('one.test', async (tx, { siteId }) => {
      const { mailboxId } = await tx.db
        .selectFrom('mailbox')
        .select('mailbox_id as mailboxId')
        .where('site_id', '=', siteId)
        .executeTakeFirstOrThrow()
      const crowd = { siteId, mailboxId, messages: 2000, name: 'plan' }
      await asAdmin((owner) => storeCrowd(owner, crowd), stack.database.url)
    })
    const plan = await stack.inSite('one.test', async (tx) => {
      const { rows } = await sql<Record<'QUERY PLAN', string>>`
        explain select message_id from mail_search`.execute(tx.db)
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    })
    expect(plan).toContain('Bitmap Index Scan on mail_search_by_words')
  })

  test('that Postgres made from the text before are found as before', async () => {
    const ann = await new AdminPool(stack, 'two.test').first()
    const { messageId } = await storeMail(stack, { mailbox: 'info@two.test', subject: 'Earlier' })
    await stack.inSite('two.test', async (tx) => {
      await sql`select set_config('app.mail_query', quote_literal(${tx.siteId}::text), true)`.execute(
        tx.db,
      )
      await sql`update mail_search set words = array_to_tsvector(array[site_id, mailbox_id])
          || to_tsvector('simple', 'Größe passt, eve@else.test sent Report_ja.pdf; due soon')
        where site_id = ${tx.siteId} and message_id = ${messageId}`.execute(tx.db)
    })
    const subjects = async (q: string) => {
      const { json } = await ann.call('GET', `/messages?${new URLSearchParams({ q }).toString()}`)
      return json.items.map(({ subject }: { subject: string }) => subject)
    }
    for (const q of ['größe', 'GRÖ*', 'eve@else.test', 'report_ja.pdf', '"due soon"', 'pass*'])
      expect(await subjects(q), q).toContain('Earlier')
    for (const q of ['-größe passt', '"soon due"', 'größen'])
      expect(await subjects(q), q).not.toContain('Earlier')
  })

  test('go with the message', async () => {
    await stack.inSite('one.test', async (tx, { siteId }) => {
      await sql`select set_config('app.mail_query', '''word''', true)`.execute(tx.db)
      await tx.db.deleteFrom('mail_message').where('site_id', '=', siteId).execute()
      expect(await found(tx)).toEqual([])
    })
  })
})
