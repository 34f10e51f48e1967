import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { carryOut } from '#test/iac.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const CONFIG = { partitionKey: { name: 'id', type: 'S' }, ttlAttribute: 'until' }
let stack: Stack
const PAST = Math.floor(Date.now() / 1000) - 60
let serial = 0
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const newSite = () => RuntimeSite.create(stack, `goes${serial++}.test`)
const make = async (
  site: RuntimeSite,
  type: string,
  name: string,
  config: object,
): Promise<string> =>
  (await site.admin('POST', '/resources', { type, name, config })).json.resourceId
const put = (site: RuntimeSite, table: string, ...items: object[]) =>
  Promise.all(items.map((item) => site.admin('POST', `/resources/${table}/data/ddb/put`, { item })))
const store = (site: RuntimeSite, bucket: string, key: string, body: string) =>
  site.admin('POST', `/resources/${bucket}/data/s3/put-object`, { key, body })
const isThere = async (site: RuntimeSite, id: string) =>
  (await site.admin('GET', `/resources/${id}`)).status === 200

describe('deleting a table or bucket', () => {
  test.each([
    ['in the body', '', { confirm: true }],
    ['in the query', '?confirm=true', undefined],
  ])('that holds something is agreed to %s', async (_where, query, body) => {
    const site = await newSite()
    const id = await make(site, 'ddbTable', 'people', CONFIG)
    await put(site, id, { id: '1' }, { id: '2' }, { id: '3', until: PAST })
    const refused = await site.admin('DELETE', `/resources/${id}`)
    expect(refused).toMatchObject({
      status: 400,
      json: { error: { code: 'ConfirmationRequired', contents: { items: 2 } } },
    })
    expect(refused.json.error.message).toMatch(
      /^Table "people" holds 2 items at the moment, .*"confirm": true/,
    )
    expect(await isThere(site, id)).toBe(true)
    expect((await site.admin('DELETE', `/resources/${id}${query}`, body)).json).toEqual({
      ok: true,
    })
    expect(await isThere(site, id)).toBe(false)
  })

  test('tells the objects of a bucket and their bytes', async () => {
    const site = await newSite()
    const id = await make(site, 's3Bucket', 'files', {})
    await store(site, id, 'a', 'four')
    await store(site, id, 'b', 'sixsix')
    const refused = await site.admin('DELETE', `/resources/${id}`, { confirm: false })
    expect(refused.json.error).toMatchObject({ contents: { objects: 2, bytes: 10 } })
    expect(refused.json.error.message).toContain('Bucket "files" holds 2 objects (10 bytes)')
    await site.admin('POST', `/resources/${id}/data/s3/delete-object`, { key: 'a' })
    await site.admin('POST', `/resources/${id}/data/s3/delete-object`, { key: 'b' })
    expect((await site.admin('DELETE', `/resources/${id}`)).status).toBe(200)
  })

  test('that is empty asks nothing, nor does a function', async () => {
    const site = await newSite()
    const ids = [
      await make(site, 'ddbTable', 'empty', CONFIG),
      await make(site, 's3Bucket', 'bare', {}),
      await site.putFunction('code', 'export default () => 1'),
    ]
    for (const id of ids) expect((await site.admin('DELETE', `/resources/${id}`)).status).toBe(200)
  })

  test.each([
    ['another word', { confirm: 'yes' }],
    ['another field', { confirm: true, force: true }],
    ['a list', [true]],
  ])('is not agreed to by %s', async (_what, body) => {
    const site = await newSite()
    const id = await make(site, 'ddbTable', 'kept', CONFIG)
    await put(site, id, { id: '1' })
    expect((await site.admin('DELETE', `/resources/${id}`, body)).status).toBe(400)
    expect(await isThere(site, id)).toBe(true)
  })

  test('tells strangers and other sites nothing', async () => {
    const [site, other] = [await newSite(), await newSite()]
    const id = await make(site, 'ddbTable', 'own', CONFIG)
    await put(site, id, { id: '1' })
    const stranger = await other.admin('DELETE', `/resources/${id}?confirm=true`)
    expect(stranger.json.error.code).toBe('ResourceNotFound')
    const token = await stack.adminToken(site.host, 'user')
    const path = `/admin/data/resources/${id}`
    expect((await stack.call(site.host, 'DELETE', path, { token })).status).toBe(403)
    expect(await isThere(site, id)).toBe(true)
  })

  test('counts so far and no further', async () => {
    const site = await newSite()
    const id = await make(site, 'ddbTable', 'large', CONFIG)
    await stack.inSite(site.host, async ({ db, siteId }) => {
      await sql`insert into table_item (site_id, table_id, partition_hash, sort_key, size_bytes, body)
        select ${siteId}, ${id}, int4send(n), '', 10, '{}' from generate_series(1, 10001) n`.execute(
        db,
      )
    })
    const refused = await site.admin('DELETE', `/resources/${id}`)
    expect(refused.json.error).toMatchObject({
      contents: { items: 10_000, atLeast: true },
      message: expect.stringContaining('holds at least 10000 items'),
    })
  })

  test('takes along what came after it was asked', async () => {
    const site = await newSite()
    const id = await make(site, 'ddbTable', 'busy', CONFIG)
    await put(site, id, { id: '1' })
    expect((await site.admin('DELETE', `/resources/${id}`)).json.error.contents.items).toBe(1)
    await put(site, id, { id: '2' })
    expect((await site.admin('DELETE', `/resources/${id}`, { confirm: true })).status).toBe(200)
    await expect.poll(async () => (await site.admin('GET', '/usage')).json.tables.usedItems).toBe(0)
  })
})

describe('replacing a definition', () => {
  test('tells what the tables and buckets hold that would go, and takes that as agreed to', async () => {
    const site = await newSite()
    const table = await make(site, 'ddbTable', 'people', CONFIG)
    const bucket = await make(site, 's3Bucket', 'files', {})
    await make(site, 's3Bucket', 'bare', {})
    await put(site, table, { id: '1' }, { id: '2' })
    await store(site, bucket, 'a', 'four')
    const nothing = { resources: [] }
    const { deletions, message } = (await carryOut(site, 'replace', nothing)).json.error
    expect(deletions).toHaveLength(3)
    expect(deletions).toEqual(
      expect.arrayContaining([
        { section: 'resources', name: 'people', items: 2 },
        { section: 'resources', name: 'files', objects: 1, bytes: 4 },
        { section: 'resources', name: 'bare', objects: 0, bytes: 0 },
      ]),
    )
    expect(message).toContain('resources "people" with 2 items')
    await put(site, table, { id: '3' })
    const replaced = await carryOut(site, 'replace', nothing, { confirm: deletions })
    expect(replaced.json).toMatchObject({ status: 'succeeded', summary: { deleted: 3 } })
  })
})

describe('a resource that is deleted while a definition is carried out', () => {
  test('is either there with all its dependents, or gone without them', async () => {
    const site = await newSite()
    const definition = {
      resources: [
        {
          type: 'lambdaFunction',
          name: 'reader',
          config: {
            code: 'export default () => 1',
            resources: [{ resource: 'shelf', access: 'read' }],
          },
        },
      ],
      operations: [{ operation: 'list', preset: 'ddb.scan', resource: 'shelf' }],
    }
    for (let round = 0; round < 6; round++) {
      const shelf = await make(site, 'ddbTable', 'shelf', CONFIG)
      const [job, deleted] = await Promise.all([
        carryOut(site, 'apply', definition),
        site.admin('DELETE', `/resources/${shelf}`),
      ])
      const { resources, operations } = (await site.admin('GET', '/iac/export')).json
      const names = resources.map(({ name }: { name: string }) => name)
      const links = [
        ...resources.flatMap(({ config }: { config: { resources?: { resource: string }[] } }) =>
          (config.resources ?? []).map(({ resource }) => resource),
        ),
        ...operations.map(({ resource }: { resource: string }) => resource),
      ]
      for (const link of links) expect(names).toContain(link)
      expect([200, 409]).toContain(deleted.status)
      expect(names.includes('shelf')).toBe(deleted.status === 409)
      expect(job.status === 400 || ['succeeded', 'failed'].includes(job.json.status)).toBe(true)
      await carryOut(site, 'replace', { resources: [], operations: [] }, { confirm: true })
    }
  })
})
