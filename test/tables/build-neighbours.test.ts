import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const INDEX = { name: 'by-g', partitionKey: { name: 'g', type: 'S' } }

/** A table with an item, in a site of its own. */
async function openTable(host: string) {
  const site = await RuntimeSite.open(stack, host)
  const made = await site.admin('POST', '/resources', { type: 'ddbTable', name: 'things' })
  const path = `/resources/${made.json.resourceId}`
  await site.admin('POST', `${path}/data/ddb/put`, { item: { id: 'one', g: 'a' } })
  return {
    tableId: String(made.json.resourceId),
    addIndex: () => site.admin('PATCH', path, { config: { globalSecondaryIndexes: [INDEX] } }),
    query: () =>
      site.admin('POST', `${path}/data/ddb/query`, {
        indexName: INDEX.name,
        keyConditionExpression: 'g = :g',
        expressionAttributeValues: { ':g': 'a' },
      }),
  }
}

test('a build that takes long holds up no build of another site', async () => {
  const long = await openTable('one.test')
  const short = await openTable('two.test')
  await long.addIndex()
  await expect.poll(async () => (await long.query()).status).toBe(200)
  const held = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const holding = stack.inSite('one.test', async (tx) => {
    await tx.db
      .selectFrom('table_layout')
      .select('table_id')
      .where('site_id', '=', tx.siteId)
      .where('table_id', '=', long.tableId)
      .forUpdate()
      .execute()
    await stack.inSite('one.test', (own) => stack.context.tableBuilds.request(own, long.tableId))
    held.resolve()
    await done.promise
  })
  await held.promise
  // Its builder has to have begun, or it would only come later.
  await expect
    .poll(() =>
      stack.inSite('one.test', async ({ db }) => {
        const { rows } = await sql<{ waits: boolean }>`
          select exists (
            select from pg_locks join pg_stat_activity using (pid)
            where not granted and datname = current_database()) as waits`.execute(db)
        return rows[0]?.waits
      }),
    )
    .toBe(true)
  try {
    await short.addIndex()
    await expect.poll(async () => (await short.query()).status).toBe(200)
  } finally {
    done.resolve()
    await holding
  }
})
