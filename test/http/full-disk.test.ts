import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { DiskSpace } from '#platform/disk/disk-space.ts'
import type { Logger } from '#platform/log/logger.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import type { Answer } from '#test/http-client.ts'
import { RawSmtp, mailSettings, makeMailboxes } from '#test/inbound-mail.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { silentLog } from '#test/silent-log.ts'
import { SiteTable } from '#test/site-table.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { signInWithPassword, signUp } from '#test/visitors.ts'

const HOST = 'one.test'
const EMAIL = 'ann@visitors.test'
/** The result of a function that puts, or what it does with its error. */
const PUTTER = `export default async ({ payload }, ctx) => {
  try {
    await ctx.table('notes').put({ item: { id: payload } })
    return 'kept'
  } catch (error) {
    if (payload === 'uncaught') throw error
    return { code: error.code, statusCode: error.statusCode }
  }
}`
const FULL = {
  status: 503,
  headers: { 'retry-after': '30' },
  json: { error: { code: 'DiskFull', message: 'The database has no room left: its disk is full' } },
}

const cleanUp = new AsyncDisposableStack()
const info = vi.fn<(fields: object, message: string) => void>()
const logger = { ...silentLog, info } as unknown as Logger
/** The statuses of requests that have a line. */
const logged = () =>
  info.mock.calls.flatMap(([fields, message]) =>
    message === 'request' && 'status' in fields ? [fields.status] : [],
  )
let freeBytes = 1000
let disk: DiskSpace
let stack: Stack
let site: RuntimeSite
let table: SiteTable
let bucket: string
let upload: { readonly url: string; readonly headers: Record<string, string> }
let smtpPort: number

beforeAll(async () => {
  disk = cleanUp.use(
    await DiskSpace.open({
      places: { folder: '/', database: '/', objects: '/' },
      reserveBytes: 100,
      log: silentLog,
      freeSpace: async () => ({ freeBytes, totalBytes: 10_000 }),
    }),
  )
  const config = { mail: mailSettings() }
  stack = cleanUp.use(await startStack({ sites: [HOST], config, logger, platform: { disk } }))
  site = await RuntimeSite.open(stack, HOST)
  table = await SiteTable.create(site, 'notes', { partitionKey: { name: 'id', type: 'S' } })
  const made = await site.admin('POST', '/resources', { type: 's3Bucket', name: 'b', config: {} })
  bucket = made.json.resourceId
  const resources = [{ resourceId: table.resourceId, access: 'readWrite' }]
  const lambdaResourceId = await site.putFunction('putter', PUTTER, { resources })
  await site.putOperation('putter', { lambdaResourceId, auth: { mode: 'public' } })
  await site.synced()
  await table.do('put', { item: { id: 'kept' } })
  await inBucket('put-object', { key: 'kept', body: 'kept' })
  upload = (await inBucket('presign-put-object', { key: 'late', sizeBytes: 4 })).json
  await signUp(stack, HOST, EMAIL)
  await makeMailboxes(stack, HOST, ['info'])
  smtpPort = await stack.context.smtp.start()
  cleanUp.defer(() => stack.context.smtp.drain(1000))
})
afterAll(() => cleanUp.disposeAsync())

const inBucket = (action: string, body: unknown) =>
  site.admin('POST', `/resources/${bucket}/data/s3/${action}`, body)
const hasFree = async (bytes: number) => {
  freeBytes = bytes
  await disk.look()
}
const sendUpload = (): Promise<Answer> => {
  const { pathname, search } = new URL(upload.url)
  const { headers } = upload
  return stack.call(HOST, 'PUT', `${pathname}${search}`, { headers, body: Buffer.from('late') })
}
const sendMail = async () => {
  await using client = await RawSmtp.greeted(smtpPort)
  return await client.message('a@a.test', [`info@${HOST}`], 'Subject: Hello\r\n\r\nText\r\n')
}

/** Whatever makes the disk fuller. */
const WRITES: Readonly<Record<string, () => Promise<Answer>>> = {
  'an item': () => table.call('put', { item: { id: 'a' } }),
  'an update': () =>
    table.call('update', {
      key: { id: 'kept' },
      updateExpression: 'SET n = :n',
      expressionAttributeValues: { ':n': 1 },
    }),
  'a batch with an item': () => table.call('batch-write', { puts: [{ id: 'a' }] }),
  'a transaction with an item': () =>
    table.call('transact-write', { actions: [{ put: { item: { id: 'a' } } }] }),
  'a definition': () =>
    site.admin('POST', '/iac/jobs', { mode: 'apply', definition: { envVars: [] } }),
  'a resource': () =>
    site.admin('POST', '/resources', { type: 's3Bucket', name: 'more', config: {} }),
  'a changed resource': () => site.admin('PATCH', `/resources/${bucket}`, { name: 'c' }),
  'a site': () => stack.portal('POST', '/sites', { domain: 'new.test', superAdmins: [] }),
}
const OBJECTS: typeof WRITES = {
  'an object': () => inBucket('put-object', { key: 'a', body: 'a' }),
  'a place for an upload': () => inBucket('presign-put-object', { key: 'a', sizeBytes: 1 }),
  'an upload': sendUpload,
  'a deployment': () => new DeployDesk(stack).begin(HOST, { 'index.html': 'Hello' }),
}

describe('while a disk is full', () => {
  beforeAll(() => hasFree(99))

  test.each(Object.entries(WRITES))('%s is refused', async (_what, write) => {
    expect(await write()).toMatchObject(FULL)
  })

  test.each(Object.entries(OBJECTS))('%s is refused', async (_what, write) => {
    const answer = await write()
    expect(answer, answer.text).toMatchObject({ status: 503, headers: FULL.headers })
    expect(answer.text).toContain('DiskFull')
  })

  test('site code gets the error, with a status that says to try again', async () => {
    const told = { code: 'DiskFull', statusCode: 503 }
    expect((await site.call('putter', 'a')).json).toEqual({ ok: true, data: told })
    // What it does not catch says the same to its caller, and not that the function failed.
    expect(await site.call('putter', 'uncaught')).toMatchObject({
      status: 503,
      headers: FULL.headers,
      json: { ok: false, error: { code: 'ServiceUnavailable', retryable: true } },
    })
  })

  test('mail is put off', async () => {
    expect(await sendMail()).toBe('452 4.3.1 The server has no room left: try again later')
  })

  test('what is there is read', async () => {
    expect(await table.do('get', { key: { id: 'kept' } })).toMatchObject({ item: { id: 'kept' } })
    expect((await table.do('scan', {})).items).toEqual([{ id: 'kept' }])
    expect((await inBucket('get-object', { key: 'kept' })).json.body).toBe('kept')
    expect((await inBucket('list-objects', {})).json.items).toHaveLength(1)
  })

  test('people sign in', async () => {
    const { url } = await signInWithPassword(stack, HOST, { email: EMAIL })
    expect(url.searchParams.has('code')).toBe(true)
  })

  test('what is there can be deleted', async () => {
    await table.do('delete', { key: { id: 'never' } })
    await table.do('batch-write', { deletes: [{ id: 'never' }] })
    expect((await inBucket('delete-object', { key: 'never' })).status).toBe(200)
  })

  test('the site’s log keeps no lines but one that says so', async () => {
    for (const message of ['a', 'b']) {
      const { siteId } = await stack.context.sites.find(HOST)
      stack.context.runtimeLogs.platform({ siteId, level: 'info', message })
      await stack.context.runtimeLogs.flush()
    }
    const { items } = (await site.admin('GET', '/logs')).json
    expect(items).toMatchObject([{ level: 'warn', message: expect.stringContaining('DiskFull') }])
  })

  test('requests that are refused for it, or go well, have no line in the log of the service', async () => {
    const requests = async () => {
      info.mockClear()
      await table.call('put', { item: { id: 'a' } })
      await table.call('get', { key: { id: 'kept' } })
      return logged()
    }
    expect(await requests()).toEqual([])
    await hasFree(125)
    expect(await requests()).toEqual([200, 200])
    await table.do('delete', { key: { id: 'a' } })
    await hasFree(99)
  })

  test('readiness names it, and is not lost', async () => {
    const { checks } = (await stack.call('any.host', 'GET', '/readyz')).json
    expect(checks).toMatchObject({ disk: 'below its reserve', postgres: 'ok' })
  })
})

describe('once there is room', () => {
  beforeAll(() => hasFree(125))

  test('all of it is taken again', async () => {
    expect((await WRITES['an item']?.())?.status).toBe(200)
    expect((await site.call('putter', 'b')).json).toEqual({ ok: true, data: 'kept' })
    expect((await OBJECTS['an object']?.())?.status).toBe(200)
    expect((await sendUpload()).status).toBe(200)
    expect(await sendMail()).toBe('250 2.6.0 accepted')
    const { checks } = (await stack.call('any.host', 'GET', '/readyz')).json
    expect(checks).toMatchObject({ disk: 'ok' })
  })
})
