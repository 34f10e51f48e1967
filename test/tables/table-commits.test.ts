import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { Table } from '#runtime/tables/table.ts'
import { type TestDatabase, asAdmin, openDatabase } from '#test/postgres.ts'

import { type EngineBench, insertSite, openEngine } from './table-engine.ts'

let postgres: PostgresPlatform & TestDatabase
let bench: EngineBench
let table: Table

beforeEach(async () => {
  postgres = await openDatabase()
  bench = await openEngine(postgres)
  await insertSite(postgres, 'one')
  table = await bench.create('one', { partitionKey: { name: 'id', type: 'S' } })
  await put({ id: 'kept' })
})
afterEach(async () => {
  await bench.queue[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

const put = (item: object, more: object = {}) =>
  bench.act(table, 'PutItem', { Item: item, ...more })
const stored = async (id: string) => (await bench.act(table, 'GetItem', { Key: { id } }))['Item']

/** When the statement has run and its answer is on its way, and the commit is still to come. */
const atCommit = (statement: string) =>
  asAdmin(async (admin) => {
    await admin.unsafe(`
      create function break_commit() returns trigger language plpgsql security definer as $$
      begin ${statement}; return null; end $$;
      create constraint trigger break_commit after insert or update or delete on table_item
      deferrable initially deferred for each row execute function break_commit()`)
  }, postgres.url)

const mend = () =>
  asAdmin(async (admin) => {
    await admin.unsafe('drop function break_commit() cascade')
  }, postgres.url)

const WRITES: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['a put', () => put({ id: 'new' })],
  ['a put that answers with what was', () => put({ id: 'new' }, { ReturnValues: 'ALL_OLD' })],
  [
    'a put under a condition',
    () => put({ id: 'new' }, { ConditionExpression: 'attribute_not_exists(id)' }),
  ],
  [
    'puts at once',
    () => Promise.any(['new', 'newer', 'newest'].map((id) => put({ id }))).catch(firstOf),
  ],
  ['a delete', () => bench.act(table, 'DeleteItem', { Key: { id: 'kept' } })],
  [
    'an update',
    () =>
      bench.act(table, 'UpdateItem', {
        Key: { id: 'kept' },
        UpdateExpression: 'SET more = :more',
        ExpressionAttributeValues: { ':more': true },
      }),
  ],
]

/** All of them failed. */
const firstOf = (all: AggregateError): Promise<never> => Promise.reject(all.errors[0])

describe('a commit that fails', () => {
  test.each(WRITES)('does not pass for success: %s', async (_name, write) => {
    await atCommit("raise exception 'no commit'")
    await expect(write()).rejects.toThrow('no commit')
    expect(await stored('new')).toBeUndefined()
    expect(await stored('kept')).toEqual({ id: 'kept' })
    await mend()
    await put({ id: 'new' })
    expect(await stored('new')).toEqual({ id: 'new' })
  })

  test.each(WRITES)('because the connection is lost is a 503: %s', async (_name, write) => {
    await atCommit('perform pg_terminate_backend(pg_backend_pid())')
    await expect(write()).rejects.toMatchObject({ code: 'ServiceUnavailable' })
    expect(await stored('new')).toBeUndefined()
    expect(await stored('kept')).toEqual({ id: 'kept' })
    await mend()
    await put({ id: 'new' })
    expect(await stored('new')).toEqual({ id: 'new' })
  })
})
