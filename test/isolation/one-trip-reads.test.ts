import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { forgeFunction } from '#test/forged-function.ts'
import { type TestDatabase, asAdmin, openDatabase } from '#test/postgres.ts'

/** The same ids on two sites, which no two sites are given: the worst that could happen. */
const ROWS = `
  insert into site (site_id, domain, region, source_mode, repo_binding, deployment_settings)
    select s, s || '.test', 'eu-central-1', 'SITE_GIT', '{}', '{}' from unnest(array['one', 'two']) s;
  insert into user_pool (site_id, user_pool_id, kind)
    select s, 'pool', 'admin' from unnest(array['one', 'two']) s;
  insert into pool_user (site_id, user_pool_id, sub, email, status, origin, role)
    select s, 'pool', 'ann', 'ann@' || s || '.test', 'ACTIVE', 'operator', 'admin' from unnest(array['one', 'two']) s;
  insert into data_resource (site_id, resource_id, type, name, config)
    select s, 'res_1', 'ddbTable', 'of-' || s, '{}' from unnest(array['one', 'two']) s;`

const READS = [
  ['user_standing', `(?, 'pool', 'ann', null)`, 'email', 'ann@one.test'],
  ['resource_read', `(?, 'res_1')`, 'name', 'of-one'],
  ['user_standing_and_resource', `(?, 'pool', 'ann', null, 'res_1')`, 'name', 'of-one'],
] as const

let postgres: PostgresPlatform & TestDatabase
beforeAll(async () => {
  postgres = await openDatabase()
  await asAdmin((admin) => admin.unsafe(ROWS), postgres.url)
})
afterAll(() => postgres[Symbol.asyncDispose]())

const read = (name: string, args: string, siteId: string) =>
  postgres.database.statement<Record<string, unknown>>(
    `select * from ${name}${args.replace('?', '$1')}`,
    [siteId],
  )

const forged = (name: string) => forgeFunction(name, postgres.url)

describe('a read in one round trip', () => {
  test.each(READS)('%s sees the site that it is for', async (name, args, column, expected) => {
    expect((await read(name, args, 'one')).map((row) => row[column])).toEqual([expected])
    expect(await read(name, args, 'three')).toEqual([])
  })

  test.each(READS)('%s is shown nothing of a site that it does not say', async (name, args) => {
    await forged(name)
    expect(await read(`forged_${name}`, args, 'one')).toHaveLength(1)
    expect(await read(`forged_${name}`, args, 'two')).toEqual([])
  })

  test.each(READS)('%s leaves its connection with no site', async (name, args) => {
    for (let round = 0; round < 8; round++) {
      await read(name, args, 'one')
      expect(await postgres.database.statement('select 1 from pool_user', [])).toEqual([])
      expect(await postgres.database.statement('select 1 from data_resource', [])).toEqual([])
    }
  })
})
