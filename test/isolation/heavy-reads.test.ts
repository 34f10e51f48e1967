import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const SCANS = 40

let stack: Stack
let one: RuntimeSite
let two: RuntimeSite
let tables: { readonly one: string; readonly two: string }
beforeAll(async () => {
  stack = await startStack()
  one = await RuntimeSite.open(stack, 'one.test')
  two = await RuntimeSite.open(stack, 'two.test')
  tables = { one: await create(one), two: await create(two) }
  await fill(one, tables.one)
})
afterAll(() => stack[Symbol.asyncDispose]())

async function create(site: RuntimeSite): Promise<string> {
  const config = { partitionKey: { name: 'id', type: 'S' } }
  const made = await site.admin('POST', '/resources', { type: 'ddbTable', name: 'things', config })
  expect(made.status, made.text).toBe(200)
  await site.synced()
  return made.json.resourceId
}

async function fill(site: RuntimeSite, table: string): Promise<void> {
  for (let batch = 0; batch < 20; batch += 1) {
    const actions = Array.from({ length: 100 }, (_, n) => ({
      put: { item: { id: `${batch} ${n}`, n, words: 'a word '.repeat(60) } },
    }))
    const written = await ddb(site, table, 'transact-write', { actions })
    expect(written.status, written.text).toBe(200)
  }
}

const ddb = (site: RuntimeSite, table: string, action: string, body: object) =>
  site.admin('POST', `/resources/${table}/data/ddb/${action}`, body)

/** Looks at 2000 items and finds none. */
const FRUITLESS = {
  filterExpression: 'contains(words, :w) AND n > :n',
  expressionAttributeValues: { ':w': 'word', ':n': 1000 },
}

describe('one site that scans a large table many times at once', () => {
  test('gets all its answers, and its neighbour does not wait for them', async () => {
    let done = 0
    const scans = Array.from({ length: SCANS }, async () => {
      const { status, json } = await ddb(one, tables.one, 'scan', FRUITLESS)
      done += 1
      return { status, seen: json.scannedCount }
    })
    await scans[0]
    const before = done
    expect((await ddb(two, tables.two, 'get', { id: 'none' })).json).toEqual({ item: null })
    expect((await ddb(two, tables.two, 'scan', {})).json).toMatchObject({ items: [], count: 0 })
    expect(done - before).toBeLessThan(SCANS / 2)
    for (const scan of scans) expect(await scan).toEqual({ status: 200, seen: 2000 })
  })
})
