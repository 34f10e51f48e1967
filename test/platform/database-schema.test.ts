import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

import { expect, test } from 'vitest'

import { OXFMT, SCHEMA_FILE, schemaSource } from '#scripts/schema/schema-source.ts'
import { openDatabase } from '#test/postgres.ts'

const KEPT = resolve(import.meta.dirname, '../..', SCHEMA_FILE)

/** `npm run tools` installs it. In CI its absence is an error. */
const missing = !existsSync(OXFMT) && !process.env['CI']

test.skipIf(missing)(
  'the types of the tables are those of the migrated database: else run "npm run schema"',
  async () => {
    await using postgres = await openDatabase()
    expect(await readFile(KEPT, 'utf8')).toBe(await schemaSource(postgres.sql))
  },
)
