import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { carryOut, changesOf } from '#test/iac.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const CONFIG = { partitionKey: { name: 'id', type: 'S' } }
const table = (name: string, rest: object = {}) => ({
  type: 'ddbTable',
  name,
  config: CONFIG,
  ...rest,
})
const bucket = (name: string, rest: object = {}) => ({ type: 's3Bucket', name, ...rest })
/** Reads one item of the table that it names. */
const reader = (of: string, name = 'reader', rest: object = {}) => ({
  type: 'lambdaFunction',
  name,
  config: {
    code: `export default async (_event, { table }) => (await table('${of}').get({ key: { id: '1' } })).item`,
    resources: [{ resource: of, access: 'read' }],
  },
  ...rest,
})

let stack: Stack
let serial = 0
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const newSite = () => RuntimeSite.create(stack, `renames${serial++}.test`)
async function applied(site: RuntimeSite, definition: object, mode: 'apply' | 'replace' = 'apply') {
  const job = await carryOut(site, mode, definition, mode === 'replace' ? { confirm: true } : {})
  expect(job.json.status, job.text).toBe('succeeded')
  return job
}
const exported = async (site: RuntimeSite) => (await site.admin('GET', '/iac/export')).json
const idOf = async (site: RuntimeSite, name: string): Promise<string> => {
  const { resources } = (await site.admin('GET', '/resources')).json
  return resources.find((each: { name: string }) => each.name === name)?.resourceId
}
const put = async (site: RuntimeSite, name: string, item: object) =>
  site.admin('POST', `/resources/${await idOf(site, name)}/data/ddb/put`, { item })

describe.each(['apply', 'replace'] as const)('a table that is renamed by %s', (mode) => {
  test('keeps its items, and all its dependents', async () => {
    const site = await newSite()
    await applied(site, {
      resources: [table('old'), reader('old')],
      operations: [
        { operation: 'read', lambdaResource: 'reader', auth: { mode: 'public' } },
        { operation: 'get', preset: 'ddb.get', resource: 'old', auth: { mode: 'public' } },
      ],
    })
    await put(site, 'old', { id: '1', kept: true })
    const before = await idOf(site, 'old')
    const definition = {
      resources: [table('new', { renamedFrom: 'old' }), reader('new')],
      operations: [
        { operation: 'read', lambdaResource: 'reader', auth: { mode: 'public' } },
        { operation: 'get', preset: 'ddb.get', resource: 'new', auth: { mode: 'public' } },
      ],
    }
    const plan = await carryOut(site, 'plan', definition)
    expect(changesOf(plan)).toEqual([
      'rename resources new',
      'update resources reader',
      'none operations get',
      'none operations read',
    ])
    expect(plan.json.summary).toMatchObject({ renamed: 1, created: 0, deleted: 0 })
    expect(plan.json.summary.changes[0]).toMatchObject({ renamedFrom: 'old', status: 'planned' })
    expect(await idOf(site, 'old'), 'a plan changes nothing').toBe(before)
    // Nothing is deleted, so there is nothing to agree to.
    const job = await carryOut(site, mode, definition)
    expect(job.json, job.text).toMatchObject({ status: 'succeeded', summary: { renamed: 1 } })
    expect(await idOf(site, 'new')).toBe(before)
    expect(await idOf(site, 'old')).toBeUndefined()
    await site.synced()
    expect((await site.call('read')).json.data).toEqual({ id: '1', kept: true })
    expect((await site.call('get', { key: { id: '1' } })).json.data.item.kept).toBe(true)
    const again = await carryOut(site, mode, definition)
    expect(again.json.summary).toMatchObject({ renamed: 0, updated: 0, unchanged: 4 })
  })
})

describe('a name before', () => {
  test('is no longer known to code', async () => {
    const site = await newSite()
    await applied(site, {
      resources: [table('old'), reader('old')],
      operations: [{ operation: 'read', lambdaResource: 'reader', auth: { mode: 'public' } }],
    })
    await applied(site, { resources: [table('new', { renamedFrom: 'old' })] })
    await site.synced()
    expect((await site.call('read')).json.error.code).toBe('OperationFailed')
    expect(
      (await exported(site)).resources.map(
        ({ config }: { config: { resources?: object[] } }) => config.resources,
      ),
    ).toContainEqual([{ resource: 'new', access: 'read' }])
  })

  test('may be changed together with the rest', async () => {
    const site = await newSite()
    await applied(site, { resources: [bucket('old')] })
    const renamed = await applied(site, {
      resources: [bucket('new', { renamedFrom: 'old', config: { maxObjectBytes: 10 } })],
    })
    expect(renamed.json.summary.changes).toMatchObject([
      { action: 'rename', name: 'new', renamedFrom: 'old' },
    ])
    expect((await exported(site)).resources).toEqual([
      { type: 's3Bucket', name: 'new', config: { maxObjectBytes: 10 } },
    ])
  })

  test('of an unknown name creates the thing, and says so', async () => {
    const site = await newSite()
    const job = await applied(site, { resources: [table('new', { renamedFrom: 'never' })] })
    expect(job.json.summary.changes).toMatchObject([
      { action: 'create', renamedFrom: 'never', note: 'there was no "never" to rename: created' },
    ])
  })

  test.each<[string, object, string, RegExp]>([
    [
      'where both are there',
      { resources: [table('one', { renamedFrom: 'two' })] },
      'resources[0].renamedFrom',
      /"two" and "one" are both on the site/,
    ],
    [
      'of another type',
      { resources: [bucket('new', { renamedFrom: 'one' })] },
      'resources[0].renamedFrom',
      /"one" is a ddbTable, which cannot become a s3Bucket/,
    ],
    [
      'that is its own',
      { resources: [table('one', { renamedFrom: 'one' })] },
      'resources[0].renamedFrom',
      /is the name that it has/,
    ],
    [
      'of two things',
      { resources: [table('a', { renamedFrom: 'one' }), table('b', { renamedFrom: 'one' })] },
      'resources[0].renamedFrom',
      /one thing only/,
    ],
    [
      'in a chain',
      { resources: [table('two', { renamedFrom: 'one' }), table('c', { renamedFrom: 'two' })] },
      'resources[1].renamedFrom',
      /"two" is defined here as well/,
    ],
    [
      'in a swap',
      { resources: [table('two', { renamedFrom: 'one' }), table('one', { renamedFrom: 'two' })] },
      'resources[0].renamedFrom',
      /"one" is defined here as well/,
    ],
    [
      'that is no name',
      { resources: [table('new', { renamedFrom: 7 })] },
      'resources[0].renamedFrom',
      /must be the name/,
    ],
    [
      'with other keys',
      {
        resources: [
          {
            ...table('new', { renamedFrom: 'one' }),
            config: { partitionKey: { name: 'k', type: 'S' } },
          },
        ],
      },
      'resources[0].config.partitionKey',
      /./,
    ],
    [
      'of a variable',
      { envVars: [{ name: 'A', value: '1', renamedFrom: 'B' }] },
      'envVars[0]',
      /./,
    ],
  ])('%s is refused', async (_what, definition, field, message) => {
    const site = await newSite()
    await applied(site, { resources: [table('one'), table('two')] })
    for (const mode of ['apply', 'replace'] as const) {
      const refused = await carryOut(site, mode, definition, { confirm: true })
      expect(refused.status).toBe(400)
      expect(refused.json.error.details).toContainEqual({
        field,
        message: expect.stringMatching(message),
      })
    }
    expect((await exported(site)).resources).toHaveLength(2)
  })

  test('of an operation is followed by its jobs, and its kept answers are not', async () => {
    const site = await newSite()
    const auth = { mode: 'public' }
    await applied(site, {
      operations: [{ operation: 'old', preset: 'echo', auth }],
      jobs: [{ jobId: 'nightly', operation: 'old', schedule: { cron: '5 4 * * *' } }],
    })
    const job = await applied(
      site,
      {
        operations: [{ operation: 'new', preset: 'echo', auth, renamedFrom: 'old' }],
      },
      'replace',
    )
    expect(job.json.summary).toMatchObject({ renamed: 1, deleted: 0 })
    await site.synced()
    expect((await site.call('new', 7)).json.data).toBe(7)
    expect((await site.call('old', 7)).status).toBe(404)
    expect((await exported(site)).jobs).toMatchObject([{ jobId: 'nightly', operation: 'new' }])
  })

  test('of a job leaves it its runs and its schedule', async () => {
    const site = await newSite()
    await applied(site, {
      operations: [{ operation: 'echo', preset: 'echo' }],
      jobs: [{ jobId: 'old', operation: 'echo', schedule: { cron: '5 4 * * *' } }],
    })
    await site.synced()
    const due = (await site.admin('GET', '/jobs/old')).json.nextRunAt
    expect((await site.admin('POST', '/jobs/old')).status).toBe(200)
    const renamed = { jobId: 'new', operation: 'echo', schedule: { cron: '5 4 * * *' } }
    await applied(site, { jobs: [{ ...renamed, renamedFrom: 'old' }] }, 'replace')
    const runs = await site.admin('GET', '/jobs/new/runs')
    expect(runs.json.items).toHaveLength(1)
    expect((await site.admin('GET', '/jobs/new')).json.nextRunAt).toBe(due)
    expect((await site.admin('GET', '/jobs/old')).status).toBe(404)
    await expect
      .poll(async () => (await site.admin('GET', '/jobs/new/runs')).json.items[0].status, {
        timeout: 30_000,
      })
      .toBe('succeeded')
  })

  test('of a group leaves it its members, and what they may call', async () => {
    const site = await newSite()
    await applied(site, {
      groups: [{ groupName: 'old' }],
      operations: [
        { operation: 'inner', preset: 'echo', auth: { mode: 'groups', groups: ['old'] } },
      ],
    })
    const username = 'eve@example.org'
    const token = await stack.dataToken(site.host, { user: username })
    expect((await site.admin('POST', '/groups/old/users', { username })).status).toBe(200)
    await site.synced()
    expect((await site.callAs(token, 'inner', 1)).status).toBe(200)
    const job = await applied(
      site,
      { groups: [{ groupName: 'new', renamedFrom: 'old' }] },
      'replace',
    )
    expect(changesOf(job)).toEqual(['rename groups new'])
    await site.synced()
    const members = await site.admin('GET', '/groups/new/users')
    expect(members.json.items).toMatchObject([{ username }])
    expect((await exported(site)).operations[0].auth).toEqual({ mode: 'groups', groups: ['new'] })
    await expect.poll(async () => (await site.callAs(token, 'inner', 1)).status).toBe(200)
  })
})
