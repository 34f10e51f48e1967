import { copyFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { lockDataDir } from '#config/data-dir-lock.ts'
import { createClient } from '#platform/postgres/client.ts'
import { findPostmaster } from '#platform/postgres/embedded/postmaster-file.ts'
import { CroftProcess } from '#test/croft-process.ts'
import { inDatabaseOf, putBack } from '#test/old-installation.ts'
import { portalOf } from '#test/operator.ts'
import { openFolder } from '#test/temporary-folder.ts'

const HOST = 'shop.test'
const ORDERS = [1, 2, 3].map((at) => ({ buyer: 'vic', at, total: at * 9.5 }))

type Admin = Awaited<ReturnType<ReturnType<typeof portalOf>['admin']>>

let cleanUp: AsyncDisposableStack
let dataDir: string
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  dataDir = await freshDataDir(cleanUp)
})
afterEach(() => cleanUp.disposeAsync())

async function freshDataDir(until: AsyncDisposableStack): Promise<string> {
  const folder = await openFolder(until, 'croft-boot-')
  return join(folder, 'data')
}

/** What its site answers, with the code, the table and the sealed secret of then. */
async function answers(croft: CroftProcess): Promise<void> {
  const orders = () =>
    croft.call({
      host: HOST,
      method: 'POST',
      path: '/data/public/orders',
      body: { payload: 'vic' },
    })
  // Code that an earlier version has compiled is compiled again first: 503 says so, and that a client may retry.
  await croft.until('the site answers', async () => (await orders()).status === 200)
  expect((await orders()).json.data).toEqual({ key: 'a secret of long ago', items: ORDERS })
  await croft.until('the other one answers', async () => (await croft.hello('Ada')).status === 200)
}

async function dataIsThere(croft: CroftProcess): Promise<Admin> {
  const admin = await portalOf(croft).admin(HOST)
  const bucket = (await admin('GET', '/admin/data/resources')).json.resources.find(
    ({ name }: { name: string }) => name === 'photos',
  )
  const path = `/admin/data/resources/${bucket.resourceId}/data/s3/get-object`
  const object = await admin('POST', path, { key: 'a.txt' })
  expect(object.text).toContain('an object of long ago')
  // Its schedule may have come due since: the first process to start catches up on such a run, and none may run beside it.
  let runs: readonly { trigger: string; finishedAt: string | null }[] = []
  await croft.until('every run is over', async () => {
    runs = (await admin('GET', '/admin/data/jobs/nightly/runs')).json.items
    return runs.every(({ finishedAt }) => finishedAt !== null)
  })
  const byHand = runs.filter(({ trigger }) => trigger === 'manual')
  expect(byHand).toMatchObject([{ status: 'succeeded', attempts: 1 }])
  const started = await admin('POST', '/admin/data/jobs/nightly', {})
  const { runId } = started.json.data
  await croft.until('its job runs', async () => {
    const run = await admin('GET', `/admin/data/jobs/nightly/runs/${runId}`)
    return run.json.status === 'succeeded'
  })
  const members = (await admin('GET', '/admin/data/groups/staff/users')).json
  expect(JSON.stringify(members)).toContain('vic@example.test')
  return admin
}

async function mailIsRead(admin: Admin): Promise<void> {
  const { items } = (await admin('GET', '/admin/api/messages?mailbox=info@shop.test')).json
  expect(items).toMatchObject([{ subject: 'A letter of long ago', folder: 'INBOX' }])
  const read = await admin('GET', `/admin/api/messages/${items[0].id}`)
  expect(read.text).toContain('It was kept.')
}

async function mailCanCome(admin: Admin): Promise<void> {
  const mailbox = { address: 'info@shop.test', owners: ['ann@shop.test'] }
  expect((await admin('POST', '/admin/api/mailboxes', mailbox)).status).toBe(200)
}

describe('a data folder of an earlier build', () => {
  test.each([
    ['0359', mailCanCome],
    ['0415', mailIsRead],
  ] as const)('up to %s starts with this one, and all of it is there', async (name, mail) => {
    const { migrations } = await putBack(name, dataDir)
    const croft = cleanUp.use(await CroftProcess.start({ dataDir }))
    const [migrated] = croft.log.filter(({ msg }) => msg === 'database migrated')
    const applied = migrated?.['applied'] as string[]
    expect(applied).not.toEqual([])
    expect(applied.filter((one) => migrations.includes(one))).toEqual([])
    await answers(croft)
    const admin = await dataIsThere(croft)
    await mail(admin)
    expect(croft.log.filter(({ level }) => level === 'error')).toEqual([])
    expect(await croft.stop()).toEqual({ code: 0, signal: null })

    const again = cleanUp.use(await CroftProcess.start({ dataDir }))
    expect(again.log.filter(({ msg }) => msg === 'database migrated')).toEqual([])
    await answers(again)
    expect(await again.stop()).toEqual({ code: 0, signal: null })
  })

  test('serves what was published before a limit was known', async () => {
    const first = cleanUp.use(await CroftProcess.start({ dataDir }))
    await first.until('the site answers', async () => (await first.hello('Ada')).status === 200)
    await first.stop()
    await inDatabaseOf(dataDir, async (url) => {
      const sql = createClient({ url, max: 1 })
      const changed = await sql`
        update site_revision set document = document #- '{limits,suspendedCalls}' #- '{limits,openStreams}'
        where document #> '{limits,suspendedCalls}' is not null`
      await sql.end()
      expect(changed.count).toBeGreaterThan(0)
    })
    const croft = cleanUp.use(await CroftProcess.start({ dataDir }))
    expect((await croft.hello('Ada')).status).toBe(200)
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
  })
})

const sqlIn = (work: string) =>
  inDatabaseOf(refused, async (url) => {
    const sql = createClient({ url, max: 1 })
    await sql.unsafe(work)
    await sql.end()
  })
const file = (name: string) => join(refused, name)
const moved = (name: string) => ({
  spoil: () => rename(file(name), file('moved')),
  mend: () => rename(file('moved'), file(name)),
})
const replaced = (name: string, text: string) => ({
  async spoil() {
    await copyFile(file(name), file('kept'))
    await writeFile(file(name), text)
  },
  mend: () => copyFile(file('kept'), file(name)),
})

interface Refusal {
  readonly spoil: () => Promise<unknown>
  readonly mend: () => Promise<unknown>
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
}
let refused: string
let lock: AsyncDisposable | undefined
const nothing = async () => {}

const REFUSALS: readonly (readonly [string, RegExp, Refusal])[] = [
  [
    'that a newer version has used',
    /migration "9001_newer\.sql".*newer one has used it\. Start that version.*put back the backup from before the upgrade/s,
    {
      spoil: () => sqlIn(`insert into schema_migration values ('9001_newer.sql', 'x')`),
      mend: () => sqlIn(`delete from schema_migration where name = '9001_newer.sql'`),
    },
  ],
  [
    'of a build between two versions',
    /migration "0415_delivery_notices\.sql" was changed.*Start the build that made it, put back a backup/s,
    {
      spoil: () =>
        sqlIn(`update schema_migration set sha256 = 'x' || sha256 where name like '0415%'`),
      mend: () =>
        sqlIn(`update schema_migration set sha256 = substr(sha256, 2) where name like '0415%'`),
    },
  ],
  [
    'with the master key of another',
    /CROFT_MASTER_KEY is not the key that sealed the secrets.*set the one of its first start/s,
    {
      spoil: nothing,
      mend: nothing,
      env: { CROFT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') },
    },
  ],
  [
    'without its master key',
    /master key of the database in ".*" is missing: put ".*master\.key" back from a backup, or set CROFT_MASTER_KEY/s,
    moved('master.key'),
  ],
  [
    'of another PostgreSQL',
    /is of PostgreSQL 15, the installed binaries are of \d+: start it with a Croft that brings PostgreSQL 15; .*pg_dump.*DATABASE_URL/s,
    replaced('postgres/cluster/PG_VERSION', '15\n'),
  ],
  [
    'that is half there',
    /not whole, its file "PG_VERSION" is missing: put the folder back from a backup, or move it away/s,
    moved('postgres/cluster/PG_VERSION'),
  ],
  [
    'whose database was left behind',
    /The database of this data folder is missing: put ".*cluster" back from a backup, or remove ".*password"/s,
    moved('postgres/cluster'),
  ],
  [
    'that another service holds',
    /is in use by the Croft of process \d+: stop that one first/s,
    {
      spoil: async () => void (lock = await lockDataDir(refused)),
      mend: async () => lock?.[Symbol.asyncDispose](),
    },
  ],
  [
    'of another user',
    /belongs to uid 0, and this is uid 61234: start Croft as the user that it belongs to, or .*CROFT_DATA_DIR/s,
    { spoil: nothing, mend: nothing, uid: 61_234 },
  ],
]

describe('a data folder', () => {
  const folders = new AsyncDisposableStack()
  beforeAll(async () => {
    refused = await freshDataDir(folders)
    await putBack('0415', refused)
  })
  afterAll(() => folders.disposeAsync())

  // Another uid takes root.
  const tried = REFUSALS.filter(([, , { uid }]) => uid === undefined || process.getuid?.() === 0)
  test.each(tried)('%s is refused with what to do', async (_what, words, refusal) => {
    const { spoil, mend, env = {}, uid } = refusal
    await spoil()
    try {
      const as = uid === undefined ? {} : { uid }
      await using croft = await CroftProcess.launch({ dataDir: refused, env, ...as })
      expect(await croft.ended()).toEqual({ code: 1, signal: null })
      expect(croft.output).toMatch(words)
      expect(croft.output).toMatch(/^croft: /m)
      expect(croft.output).not.toMatch(/^ {4}at /m)
      expect(await findPostmaster(file('postgres/cluster'))).toBeUndefined()
    } finally {
      await mend()
    }
  })

  test('is as it was after each of them', async () => {
    const croft = cleanUp.use(await CroftProcess.start({ dataDir: refused }))
    await answers(croft)
    await dataIsThere(croft)
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
  })
})
