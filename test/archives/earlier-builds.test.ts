import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { DEFAULT_MAX_BYTES } from '#archives/archive-format.ts'
import type { ImportRequest } from '#archives/archive-imports.ts'
import { readArchive } from '#archives/archive-reader.ts'
import { WEBHOOK_SEAL_CONTEXT } from '#identity/deploy-webhooks/deploy-webhooks.ts'
import { providerSealContext } from '#identity/federation/model.ts'
import { signingKeySealContext } from '#identity/keys/model.ts'
import { passwordKeySealContext } from '#identity/passwords/hash-keys.ts'
import { srpSealContext } from '#identity/passwords/srp-verifiers.ts'
import { secondFactorSealContext } from '#identity/second-factors/sealed-texts.ts'
import { dkimSealContext } from '#mail/dkim/model.ts'
import { readChunk } from '#platform/backup/chunks.ts'
import { FolderPlace } from '#platform/backup/folder-place.ts'
import { readManifest } from '#platform/backup/manifest.ts'
import { type SqlClient, createClient } from '#platform/postgres/client.ts'
import { Sealer } from '#platform/seal/sealer.ts'
import { envVarSealContext } from '#runtime/env-vars/model.ts'
import { emptyPlaces, restoreInto } from '#test/backups.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

const BUILDS = join(import.meta.dirname, 'builds')
const HOST = 'shop.test'
const PASSPHRASE = 'a passphrase for the road'

type Row = Readonly<Record<string, unknown>>

/** By table and column, what the key of the site seals, and for what. */
const SEALED: Readonly<Record<string, (row: Row) => string>> = {
  'deploy_webhook.sealed_secret': () => WEBHOOK_SEAL_CONTEXT,
  'dkim_key.sealed_private': ({ number }) => dkimSealContext(Number(number)),
  'env_var.sealed': ({ name }) => envVarSealContext(String(name)),
  'identity_provider.sealed_client_secret': (row) =>
    providerSealContext(String(row['user_pool_id'])),
  'password_key.sealed': ({ key_id }) => passwordKeySealContext(String(key_id)),
  'signing_key.sealed_private': ({ user_pool_id, kid }) =>
    signingKeySealContext(String(user_pool_id), String(kid)),
  'user_password.sealed_srp': (row) => srpSealContext(...userOf(row)),
  'user_totp.sealed_recovery_codes': (row) => secondFactorSealContext(...userOf(row)),
  'user_totp.sealed_secret': (row) => secondFactorSealContext(...userOf(row)),
}

const userOf = ({ user_pool_id, sub }: Row): [string, string] => [String(user_pool_id), String(sub)]

let cleanUp: AsyncDisposableStack
let folder: string
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack()
  folder = await temporaryFolder(cleanUp, 'croft-earlier-')
})
afterAll(() => cleanUp.disposeAsync())

const builds = await readdir(BUILDS, { withFileTypes: true })
describe.each(builds.filter((entry) => entry.isDirectory()).map(({ name }) => name))(
  'the build of %s',
  (build) => {
    test.each([
      ['whole', PASSPHRASE],
      ['bare', undefined],
    ])('has an archive "%s" that gives the same site', async (name, passphrase) => {
      await using stack = await startStack({ sites: [], works: false })
      const file = join(BUILDS, build, `${name}.croft.tar.gz`)
      await importArchive(stack, file, passphrase)
      const lines = await importedRows(stack, await columnsIn(file))
      expect(lines.length).toBeGreaterThan(20)
      await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(
        join(BUILDS, build, `${name}.rows.ndjson`),
      )
    })

    test('has a backup that gives every row', async () => {
      const place = await FolderPlace.open(await unpackedBackup(build), 'read')
      const { manifest } = await readManifest(place, undefined)
      const places = await emptyPlaces(cleanUp, await masterKeyOf(build))
      await restoreInto(places, place)
      const sql = createClient({ url: places.database.url, max: 1 })
      cleanUp.defer(() => sql.end({ timeout: 5 }))
      // A start writes the settings of the queues.
      const filled = manifest.tables.filter(({ name, rows }) => rows > 0 && name !== 'queue')
      expect(filled.length).toBeGreaterThan(60)
      for (const { schema, name, columns, chunks } of filled) {
        const parts = await Promise.all(
          chunks.map((sha256) => readChunk(place, { sha256, form: 'packed' })),
        )
        const restored = await copied(sql, { table: `${schema}.${name}`, columns })
        expect(restored, name).toBe(Buffer.concat(parts).toString())
      }
    })
  },
)

async function importArchive(
  { context }: Stack,
  file: string,
  passphrase: string | undefined,
): Promise<void> {
  const request: ImportRequest = {
    host: undefined,
    passphrase,
    superAdmins: [],
    maxBytes: DEFAULT_MAX_BYTES,
    origin: { address: '127.0.0.1', userAgent: 'test', requestId: 'test' },
  }
  const { archiveImports } = context
  await using archive = await archiveImports.receive(contentOf(file), request)
  await archiveImports.load(archive, request, () => {})
}

async function* contentOf(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield await readFile(file)
}

/** By table, the columns of its rows in an archive. */
async function columnsIn(file: string): Promise<Map<string, readonly string[]>> {
  const columns = new Map<string, readonly string[]>()
  for await (const { name, bytes } of readArchive(contentOf(file), DEFAULT_MAX_BYTES)) {
    const content = Buffer.concat(await Array.fromAsync(bytes)).toString()
    if (!name.endsWith('.ndjson') || name.startsWith('items/')) continue
    const [head = '', row = ''] = content.split('\n')
    columns.set(JSON.parse(head).table, Object.keys(JSON.parse(row)))
  }
  return columns
}

/** A line for each row that the site has in these tables. */
const importedRows = (
  stack: Stack,
  columns: ReadonlyMap<string, readonly string[]>,
): Promise<string[]> =>
  asSuperuser(stack, async (sql) => {
    await sql`set timezone = 'UTC'`
    const [key] = await sql<{ siteId: string; wrappedKey: Buffer }[]>`
      select site_id as "siteId", wrapped_key as "wrappedKey" from site_key join site using (site_id)
      where domain = ${HOST}`
    if (key === undefined) throw new Error('The site is not there')
    const sealer = new Sealer(stack.masterKey)
    const lines: string[] = []
    for (const [table, names] of columns) {
      const rows = await sql<{ row: string }[]>`
        select row_to_json(found)::text as row
        from (select ${sql([...names])} from ${sql(table)} where site_id = ${key.siteId}) found`
      for (const { row } of rows) {
        // The import itself, with its moment.
        if (row.includes('"event":"site.imported"')) continue
        const opened = openedRow(table, row, (context, sealed) => sealer.open(key, context, sealed))
        lines.push(`${table} ${opened}`.replaceAll(key.siteId, 'SITE'))
      }
    }
    return lines.toSorted()
  })

function openedRow(
  table: string,
  text: string,
  open: (context: string, sealed: Buffer) => Buffer,
): string {
  // A row that nothing is sealed in keeps the digits of its numbers.
  if (!Object.keys(SEALED).some((name) => name.startsWith(`${table}.`))) return text
  const row: Row = JSON.parse(text)
  const entries = Object.entries(row).map(([name, value]) => {
    const context = SEALED[`${table}.${name}`]?.(row)
    if (context === undefined || typeof value !== 'string') return [name, value]
    return [name, open(context, Buffer.from(value.slice('\\x'.length), 'hex')).toString('base64')]
  })
  return JSON.stringify(Object.fromEntries(entries))
}

interface PackedBackup {
  readonly masterKey: string
  readonly files: Readonly<Record<string, string>>
}

async function packedBackup(build: string): Promise<PackedBackup> {
  const packed = gunzipSync(await readFile(join(BUILDS, build, 'backup.json.gz')))
  return JSON.parse(packed.toString())
}

const masterKeyOf = async (build: string): Promise<Buffer> =>
  Buffer.from((await packedBackup(build)).masterKey, 'base64')

async function unpackedBackup(build: string): Promise<string> {
  const place = join(folder, build)
  for (const [path, content] of Object.entries((await packedBackup(build)).files)) {
    await mkdir(dirname(join(place, path)), { recursive: true })
    await writeFile(join(place, path), Buffer.from(content, 'base64'))
  }
  return place
}

async function copied(
  sql: SqlClient,
  { table, columns }: { readonly table: string; readonly columns: readonly string[] },
): Promise<string> {
  return sql.begin(async (tx) => {
    await tx`set local timezone = 'UTC'`
    await tx`set local datestyle = 'ISO'`
    const text = await tx`copy (select ${tx([...columns])} from ${tx(table)}) to stdout`.readable()
    return Buffer.concat(await Array.fromAsync(text)).toString()
  })
}
