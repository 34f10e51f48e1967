import { afterEach, beforeEach, expect, test } from 'vitest'

import { systemClock } from '#base/clock.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { TableLayouts } from '#runtime/tables/store/table-layouts.ts'
import type { Table } from '#runtime/tables/table.ts'
import { WireBatches } from '#test/dynamodb-wire/batches.ts'
import { PLAIN } from '#test/dynamodb-wire/codec.ts'
import { type TestDatabase, openDatabase } from '#test/postgres.ts'

import { type EngineBench, insertSite, openEngine } from './table-engine.ts'

/** An hour ago. */
const ENDED = Math.floor(Date.now() / 1000) - 3600

let postgres: PostgresPlatform & TestDatabase
let bench: EngineBench
let table: Table

beforeEach(async () => {
  // A caller that waits for a second one while it holds the first waits for itself.
  postgres = await openDatabase({ poolSize: 1 })
  bench = await openEngine(postgres)
  await insertSite(postgres, 'one')
  table = await bench.create('one', { partitionKey: { name: 'id', type: 'S' } })
})
afterEach(async () => {
  await bench.queue[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

/** As another process would: what this one remembers of the table is wrong from then on. */
async function redefined(ttlAttribute: string): Promise<Table> {
  const others = new TableLayouts({ ...postgres, requestBuild: () => Promise.resolve() })
  const changed = { ...table, schema: { ...table.schema, ttlAttribute } }
  await postgres.database.withSite('one', (tx) =>
    others.define(tx, changed.tableId, changed.schema),
  )
  return changed
}

test('a batch over a table that was just redefined takes one connection', async () => {
  const batches = new WireBatches({ ...postgres, clock: systemClock, layouts: bench.layouts })
  const write = (on: Table, id: string) =>
    batches.perform(
      () => on,
      'BatchWriteItem',
      { RequestItems: { it: [{ PutRequest: { Item: { id, ends: ENDED } } }] } },
      PLAIN,
    )
  await write(table, 'before')
  const changed = await redefined('ends')
  await expect(write(changed, 'after')).resolves.toEqual({ UnprocessedItems: {} })
  // By the new attribute it has ended already.
  expect(await bench.act(changed, 'GetItem', { Key: { id: 'after' } })).toEqual({})
})
