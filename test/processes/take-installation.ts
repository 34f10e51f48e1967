import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'

import { createClient } from '#platform/postgres/client.ts'
import { findPostmaster } from '#platform/postgres/embedded/postmaster-file.ts'

/** Takes what the data folder of a running service holds: see `test/boot/installations/README.md`. */
const [dataDir = '', out = ''] = process.argv.slice(2)
const password = (await readFile(join(dataDir, 'postgres/password'), 'utf8')).trim()
const running = await findPostmaster(join(dataDir, 'postgres/cluster'))
const url = `postgres://postgres:${password}@127.0.0.1:${running?.port}/postgres`
const sql = createClient({ url, max: 1 })
const names = await sql<{ name: string }[]>`
  select relname as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`
const tables: Record<string, string[]> = {}
for (const { name } of names) {
  const rows = await sql.unsafe<{ row: string }[]>(
    `select row_to_json(kept)::text as row from "${name}" kept`,
  )
  if (rows.length > 0) tables[name] = rows.map(({ row }) => row)
}
const { schema_migration: _applied, ...kept } = tables
const migrations = await sql<{ name: string }[]>`select name from schema_migration order by name`
await sql.end()

const files: Record<string, string> = {}
const objects = await readdir(join(dataDir, 'objects'), { recursive: true, withFileTypes: true })
const paths = objects
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
for (const path of [...paths, join(dataDir, 'master.key'), join(dataDir, 'operator.key')]) {
  files[relative(dataDir, path)] = (await readFile(path)).toString('base64')
}
const taken = { migrations: migrations.map(({ name }) => name), tables: kept, files }
await writeFile(out, gzipSync(JSON.stringify(taken), { level: 9 }))
