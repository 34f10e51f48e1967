import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { Database } from '#platform/postgres/database.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { Table } from '#runtime/tables/table.ts'
import { type TestDatabase, asAdmin, openDatabase } from '#test/postgres.ts'

import { type EngineBench, insertSite, openEngine } from './table-engine.ts'

let postgres: PostgresPlatform & TestDatabase
let bench: EngineBench
let mine: Table
let theirs: Table
let statements: string[]
let faults: unknown[]
let transactions: number

beforeEach(async () => {
  postgres = await openDatabase()
  statements = []
  faults = []
  transactions = 0
  bench = await openEngine({ ...postgres, database: counted(postgres.database) })
  const schema = { partitionKey: { name: 'id', type: 'S' as const } }
  for (const site of ['one', 'two']) await insertSite(postgres, site)
  mine = await bench.create('one', schema)
  theirs = await bench.create('two', schema)
  for (const table of [mine, theirs]) await put(table, 'warm', 0)
  statements = []
})
afterEach(async () => {
  await bench.queue[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

/** The same database, which notes its single statements and their faults. */
const counted = (database: Database): Database =>
  new Proxy(database, {
    get(target, name) {
      if (name === 'withSite') transactions += 1
      if (name !== 'statement') return Reflect.get(target, name).bind?.(target)
      return (text: string, parameters: readonly unknown[]) => {
        statements.push(text)
        return target.statement(text, parameters).catch((error: unknown) => {
          faults.push(error)
          throw error
        })
      }
    },
  })

const put = (table: Table, id: string, value: unknown) =>
  bench.act(table, 'PutItem', { Item: { id, value } })
const get = async (table: Table, id: string) =>
  (await bench.act(table, 'GetItem', { Key: { id } }))['Item']
const ids = Array.from({ length: 200 }, (_, at) => `item-${at}`)

describe('calls at once', () => {
  test('ask once for the layout of a table that is not known yet', async () => {
    bench.layouts.forget(mine)
    transactions = 0
    await Promise.all(ids.map((id) => put(mine, id, id)))
    expect(transactions).toBe(1)
  })

  test('take few statements, and each has its own answer', async () => {
    await Promise.all(ids.flatMap((id) => [put(mine, id, id), put(theirs, id, `their ${id}`)]))
    expect(statements.length).toBeLessThan(40)
    statements = []
    const found = await Promise.all([...ids, 'none'].map((id) => get(mine, id)))
    expect(found).toEqual([...ids.map((id) => ({ id, value: id })), undefined])
    expect(statements.length).toBeLessThan(40)
    expect(await Promise.all(ids.map((id) => get(theirs, id)))).toEqual(
      ids.map((id) => ({ id, value: `their ${id}` })),
    )
  })

  test('leave of puts of one item the one that came last', async () => {
    for (let round = 0; round < 20; round++) {
      const values = Array.from({ length: 8 }, (_, at) => round * 10 + at)
      await Promise.all(values.map((value) => put(mine, `item-${round % 3}`, value)))
      expect(await get(mine, `item-${round % 3}`)).toMatchObject({ value: values.at(-1) })
    }
  })

  test('fail alone: a put that Postgres refuses takes none of the others with it', async () => {
    await asAdmin(async (admin) => {
      await admin.unsafe(`
        create function refuse() returns trigger language plpgsql as $$
        begin if new.body like '%poison%' then raise exception 'poison'; end if; return new; end $$;
        create trigger refuse before insert on table_item for each row execute function refuse()`)
    }, postgres.url)
    const written = await Promise.allSettled(
      ids.slice(0, 20).map((id, at) => put(mine, id, at === 7 ? 'poison' : at)),
    )
    expect(written.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))).toEqual([7])
    const found = await Promise.all(ids.slice(0, 20).map((id) => get(mine, id)))
    expect(found.flatMap((item, at) => (item === undefined ? [at] : []))).toEqual([7])
  })

  test('of two engines that put the same items in other orders wait for no one in a circle', async () => {
    const other = await openEngine({ ...postgres, database: counted(postgres.database) })
    const each = { value: 'x'.repeat(100) }
    for (let round = 0; round < 10; round++) {
      await Promise.all([
        ...ids.map((id) => bench.act(mine, 'PutItem', { Item: { ...each, id } })),
        ...ids.toReversed().map((id) => other.act(mine, 'PutItem', { Item: { ...each, id } })),
      ])
    }
    await other.queue[Symbol.asyncDispose]()
    expect(faults).toEqual([])
  })
})
