import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'

import { readMasterKey } from '#config/keys.ts'
import { migrateDatabase } from '#platform/migrate-database.ts'
import { type SqlClient, createClient } from '#platform/postgres/client.ts'
import { Sealer } from '#platform/seal/sealer.ts'
import { inDatabaseOf, putBack } from '#test/old-installation.ts'
import { silentLog as log } from '#test/silent-log.ts'

import { ARCHIVED_ROWS, type ArchivedRow, ROWS_OF, type SealedText } from './archived-rows.ts'

/** Takes archives and a backup of this build into a folder: see `test/archives/builds/README.md`. */
const out = resolve(process.argv[2] ?? '')
const PASSPHRASE = 'a passphrase for the road'
const CROFT = resolve(import.meta.dirname, '../../bin/croft.js')
const run = promisify(execFile)

const folder = await mkdtemp(join(tmpdir(), 'croft-take-'))
try {
  await chmod(folder, 0o711)
  const dataDir = join(folder, 'data')
  await putBack('0415', dataDir)
  const masterKey = await readMasterKey(dataDir, { masterKey: undefined })
  await inDatabaseOf(dataDir, async (url) => {
    await migrateDatabase({ url, log })
    await addRows(url, masterKey)
  })
  const port = await freePort()
  const env = {
    PATH: process.env['PATH'],
    PORT: String(port),
    SMTP_PORT: '0',
    SUBMISSION_PORT: '0',
    CROFT_DATA_DIR: dataDir,
  }
  const passphrase = join(folder, 'passphrase')
  await writeFile(passphrase, PASSPHRASE)
  const croft = (...args: readonly string[]) => run(process.execPath, [CROFT, ...args], { env })
  const service = spawn(process.execPath, [CROFT, 'serve'], { env, stdio: 'inherit' })
  try {
    await ready(service, port)
    const operatorKey = (await readFile(join(dataDir, 'operator.key'), 'utf8')).trim()
    const at = ['--url', `http://127.0.0.1:${port}`, '--operator-key', operatorKey]
    const taking = ['site', 'export', ROWS_OF.domain, ...at]
    await croft(...taking, '--to', join(out, 'bare.croft.tar.gz'))
    const all = ['--with', 'users,keys,mail', '--passphrase-file', passphrase]
    await croft(...taking, '--to', join(out, 'whole.croft.tar.gz'), ...all)
  } finally {
    service.kill('SIGTERM')
    if (service.exitCode === null) await once(service, 'exit')
  }
  await croft('backup', '--to', join(folder, 'backup'))
  await writeFile(join(out, 'backup.json.gz'), await packed(join(folder, 'backup'), masterKey))
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function addRows(url: string, masterKey: Buffer): Promise<void> {
  const sql = createClient({ url, max: 1 })
  const { siteId } = ROWS_OF
  const [key] = await sql<{ wrapped_key: Buffer }[]>`
    select wrapped_key from site_key where site_id = ${siteId}`
  if (key === undefined) throw new Error('The site has no key')
  const sealer = new Sealer(masterKey)
  const seal = ({ context, text }: SealedText) =>
    `\\x${sealer.seal({ siteId, wrappedKey: key.wrapped_key }, context, Buffer.from(text)).toString('hex')}`
  for (const [table, row] of ARCHIVED_ROWS)
    await addRow(sql, table, { site_id: siteId, ...row }, seal)
  await sql.end({ timeout: 5 })
}

async function addRow(
  sql: SqlClient,
  table: string,
  row: ArchivedRow,
  seal: (sealed: SealedText) => string,
): Promise<void> {
  const given = Object.entries(row).map(([name, value]) => [
    name,
    isSealed(value) ? seal(value) : value,
  ])
  const names = sql(Object.keys(row))
  await sql`
    insert into ${sql(table)} (${names})
    select ${names} from jsonb_populate_record(null::${sql(table)}, ${sql.json(Object.fromEntries(given))})`
}

function isSealed(value: unknown): value is SealedText {
  return typeof value === 'object' && value !== null && 'context' in value
}

async function ready(service: ChildProcess, port: number): Promise<void> {
  for (;;) {
    if (service.exitCode !== null) throw new Error('The service ended')
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (answer?.ok === true) return
    await delay(100)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('There is no port')
  return address.port
}

/** A folder of backups by path in base64, with the key of its installation. */
async function packed(place: string, masterKey: Buffer): Promise<Buffer> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true })
  const files: Record<string, string> = {}
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name)
    files[path.slice(place.length + 1)] = (await readFile(path)).toString('base64')
  }
  return gzipSync(JSON.stringify({ masterKey: masterKey.toString('base64'), files }), { level: 9 })
}
