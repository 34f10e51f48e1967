import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const HOST = 'one.test'
const PATIENCE = { timeout: 20_000, interval: 50 }
const BUSY = {
  status: 503,
  headers: { 'retry-after': '1' },
  json: {
    error: {
      code: 'ServiceUnavailable',
      message: 'The database is busy with other changes: try again',
    },
  },
}
/** Tells what its write failed with. */
const PUTTER = `export default async (_, { table }) => {
  try {
    await table('notes').put({ item: { k: 'a' } })
  } catch (error) {
    return { code: error.code, statusCode: error.statusCode }
  }
}`

let stack: Stack
let site: RuntimeSite
let notes: string
beforeAll(async () => {
  stack = await startStack({ sites: [HOST] })
  site = await RuntimeSite.open(stack, HOST)
  const made = await site.admin('POST', '/resources', {
    type: 'ddbTable',
    name: 'notes',
    config: { partitionKey: { name: 'k', type: 'S' } },
  })
  notes = made.json.resourceId
})
afterAll(() => stack[Symbol.asyncDispose]())

/** The database gives up a statement of `work` that waits for a lock on what `held` selects. */
const givenUp = <Result>(held: string, work: () => Promise<Result>): Promise<Result> =>
  asSuperuser(stack, (sql) =>
    sql.begin(async (holding) => {
      await holding.unsafe(held)
      let isOver = false
      const outcome = work().finally(() => {
        isOver = true
      })
      // Others may wait for the same lock, and before it.
      await vi.waitUntil(async () => {
        await holding`
          select pg_cancel_backend(pid) from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`
        return isOver
      }, PATIENCE)
      return { outcome }
    }),
  ).then(({ outcome }) => outcome)

describe('a statement that the database gives up', () => {
  test('asks the client of a route to try again', async () => {
    const renamed = await givenUp('select 1 from site_runtime for update', () =>
      site.admin('PATCH', `/resources/${notes}`, { name: 'words' }),
    )
    expect(renamed).toMatchObject(BUSY)
    expect((await site.admin('PATCH', `/resources/${notes}`, { name: 'notes' })).status).toBe(200)
  })

  test('tells the function that asked so', async () => {
    const resources = [{ resourceId: notes, access: 'readWrite' }]
    const lambdaResourceId = await site.putFunction('put', PUTTER, { resources })
    await site.putOperation('put', { lambdaResourceId, auth: { mode: 'public' } })
    await site.synced()
    const caught = await givenUp('lock table table_item in exclusive mode', () =>
      site.call('put', null),
    )
    expect(caught.json.data).toEqual({ code: 'ServiceUnavailable', statusCode: 503 })
  })
})
