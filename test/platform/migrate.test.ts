import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { installRoot } from '#config/install-root.ts'
import { migrateDatabase } from '#platform/migrate-database.ts'
import { createClient } from '#platform/postgres/client.ts'
import { emptyDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'

const ROUND = [1, 2, 3]

let cleanUp: AsyncDisposableStack
let url: string
let folder: string
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  url = cleanUp.use(await emptyDatabase()).url
  folder = await mkdtemp(join(tmpdir(), 'croft-migrations-'))
  cleanUp.defer(() => rm(folder, { recursive: true }))
  await cp(join(installRoot(), 'migrations'), folder, { recursive: true })
})
afterEach(() => cleanUp.disposeAsync())

const migrate = () => migrateDatabase({ url, folder, log: silentLog })

async function query<T>(work: (sql: ReturnType<typeof createClient>) => Promise<T>): Promise<T> {
  const sql = createClient({ url, max: 1 })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

describe('migrating', () => {
  test('an empty database applies everything, in order, once', async () => {
    const applied = await migrate()
    expect(applied.length).toBeGreaterThan(2)
    expect(applied).toEqual(applied.toSorted())
    expect(await migrate()).toEqual([])
  })

  test('from several replicas at once applies each file once', async () => {
    const applied = await Promise.all(ROUND.map(migrate))
    const recorded = await query((sql) => sql`select name from schema_migration order by name`)
    expect(applied.flat().toSorted()).toEqual(recorded.map(({ name }) => name))
    expect(await Promise.all(ROUND.map(migrate))).toEqual([[], [], []])
  })

  test('many databases of one cluster at once shares their role', async () => {
    const others = await Promise.all(ROUND.map(() => emptyDatabase()))
    for (const other of others) cleanUp.use(other)
    const applied = others.map((other) =>
      migrateDatabase({ url: other.url, folder, log: silentLog }),
    )
    for (const names of await Promise.all(applied)) expect(names.length).toBeGreaterThan(2)
  })

  test('again applies what came with a newer version', async () => {
    await migrate()
    await writeFile(join(folder, '9001_more.sql'), 'create table more (id int primary key);')
    expect(await migrate()).toEqual(['9001_more.sql'])
  })

  test('leaves nothing of a file that fails, and names it', async () => {
    await writeFile(join(folder, '9001_bad.sql'), 'create table half (id int); select 1/0;')
    await expect(migrate()).rejects.toThrow(
      '"9001_bad.sql" failed and left nothing: division by zero',
    )
    expect(await query((sql) => sql`select to_regclass('half') as half`)).toMatchObject([
      { half: null },
    ])
  })

  test('refuses a file that was changed after it was applied', async () => {
    await migrate()
    await writeFile(join(folder, '0001_sites.sql'), '-- changed')
    await expect(migrate()).rejects.toThrow(
      '"0001_sites.sql" was changed after this database applied it',
    )
  })

  test('refuses a database that a newer version has migrated', async () => {
    await writeFile(join(folder, '9001_newer.sql'), 'select 1;')
    await migrate()
    await rm(join(folder, '9001_newer.sql'))
    await expect(migrate()).rejects.toThrow(
      '"9001_newer.sql", which this version of Croft does not know',
    )
  })
})
