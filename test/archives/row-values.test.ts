import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { insertArchivedRows, selectCataloguedTables } from '#archives/row-queries.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const HOST = 'one.test'
const AT = '2026-11-25T03:28:57Z'

let stack: Stack
let user: { readonly user_pool_id: string; readonly sub: string }
beforeAll(async () => {
  stack = await startStack({ sites: [HOST], works: false })
  await stack.dataToken(HOST, { user: 'vic@example.test' })
  user = await asSuperuser(stack, async (sql) => {
    const [found] = await sql<(typeof user)[]>`
      select user_pool_id, sub from pool_user where email = 'vic@example.test'`
    if (found === undefined) throw new Error('The user is not there')
    return found
  })
})
afterAll(() => stack[Symbol.asyncDispose]())

const insert = (name: string, line: object) =>
  stack.inSite(HOST, async (tx) => {
    const table = (await selectCataloguedTables(tx)).find((each) => each.table === name)
    if (table === undefined) throw new Error(`No archive has "${name}"`)
    await insertArchivedRows(tx, table, [JSON.stringify(line)])
  })

const rowsIn = (table: string) =>
  asSuperuser(stack, async (sql) => [...(await sql`select * from ${sql(table)}`)])

describe('a row of an archive', () => {
  test('gives no column a name, and none a value that stays behind', async () => {
    const { siteId } = await stack.context.sites.find(HOST)
    await insert('user_totp', {
      ...user,
      sealed_secret: '\\x00',
      sealed_recovery_codes: '\\x01',
      recovery_codes_left: 1,
      last_step: 2,
      failures: 5,
      created_at: AT,
      site_id: 'another',
      [`sub", (select 1)) --`]: 'x',
    })
    expect(await rowsIn('user_totp')).toMatchObject([
      { site_id: siteId, ...user, failures: 0, failed_since: null, created_at: new Date(AT) },
    ])
  })

  test('gets the defaults of columns that it lacks, and nulls where there are none', async () => {
    await insert('mail_raw', {
      raw_id: 'raw_1',
      size_bytes: 1,
      sha256: '\\x00',
      envelope_from: '',
      client: {},
      trace_header: '',
      authentication: {},
      bounce: null,
      received_at: AT,
    })
    expect(await rowsIn('mail_raw')).toMatchObject([
      {
        parse_status: 'pending',
        parse_attempts: 0,
        reparse_failed: false,
        reparsed_at: null,
        bounce: null,
      },
    ])
  })

  test('is refused with a null where its table has none, though there is a default', async () => {
    const group = { group_name: 'staff', description: null, created_at: AT }
    await expect(insert('data_group', group)).rejects.toMatchObject({ code: '23502' })
  })
})
