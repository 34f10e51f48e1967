import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { installRoot } from '#config/install-root.ts'
import { migrateDatabase } from '#platform/migrate-database.ts'
import { createClient } from '#platform/postgres/client.ts'
import { emptyDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'

const MIGRATION = '0425_deployment_history.sql'
const FILES = [
  { path: 'a', sha256: 'a'.repeat(64), sizeBytes: 3 },
  { path: 'b', sha256: 'b'.repeat(64), sizeBytes: 4 },
]

let cleanUp: AsyncDisposableStack
let url: string
let folder: string
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack()
  url = cleanUp.use(await emptyDatabase()).url
  folder = await mkdtemp(join(tmpdir(), 'croft-migrations-'))
  cleanUp.defer(() => rm(folder, { recursive: true }))
})
afterAll(() => cleanUp.disposeAsync())

/** Applies the migrations up to the one before, or all. */
async function migrate(wanted: (name: string) => boolean): Promise<void> {
  const source = join(installRoot(), 'migrations')
  for (const name of (await readdir(source)).filter(wanted)) {
    await cp(join(source, name), join(folder, name))
  }
  await migrateDatabase({ url, folder, log: silentLog })
}

describe('deployments of an earlier version', () => {
  test('are in the history, in the order in which they were current', async () => {
    await migrate((name) => name < MIGRATION)
    const sql = createClient({ url, max: 1 })
    cleanUp.defer(() => sql.end())
    for (const site of ['one', 'two']) {
      await sql`
        insert into site (site_id, domain, region, source_mode, repo_binding, deployment_settings, current_deployment_id)
        values (${site}, ${`${site}.test`}, 'eu-central-1', 'SITE_GIT', '{}', '{}', 'dep_b')`
      const rows = [
        ['dep_a', 'ready', '2026-01-02T00:00:00Z'],
        ['dep_b', 'ready', '2026-01-03T00:00:00Z'],
        ['dep_c', 'ready', '2026-01-01T00:00:00Z'],
        ['dep_d', 'uploading', null],
      ] as const
      for (const [id, status, activatedAt] of rows) {
        await sql`
          insert into deployment
            (site_id, deployment_id, status, source, artifact_directory, files, activated_at)
          values
            (${site}, ${id}, ${status}, '{"type":"folder"}', 'dist', ${JSON.stringify(FILES)}, ${activatedAt})`
      }
    }

    await migrate((name) => name <= MIGRATION)

    const activations = await sql`
      select activation_number, deployment_id, replaced_id, reason, activated_by, files_added
      from deployment_activation where site_id = 'two' order by activation_number`
    const known = { reason: 'deploy', activated_by: null, files_added: null }
    expect([...activations]).toEqual([
      { ...known, activation_number: 1, deployment_id: 'dep_c', replaced_id: null },
      { ...known, activation_number: 2, deployment_id: 'dep_a', replaced_id: 'dep_c' },
      { ...known, activation_number: 3, deployment_id: 'dep_b', replaced_id: 'dep_a' },
    ])
    const [counted] = await sql`
      select distinct file_count, size_bytes::integer as size_bytes from deployment`
    expect(counted).toEqual({ file_count: 2, size_bytes: 7 })
    const unforced = await sql`
      select relname from pg_class where relrowsecurity and not relforcerowsecurity`
    expect([...unforced]).toEqual([])
  })
})
