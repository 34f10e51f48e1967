import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { SiteTable } from '#test/site-table.ts'
import { type Stack, startStack } from '#test/stack.ts'

const S = (name: string) => ({ name, type: 'S' })
const INDEXES = [
  { indexName: 'whole', partitionKey: S('kind'), projection: 'ALL' },
  { indexName: 'bare', partitionKey: S('kind'), sortKey: S('at'), projection: 'KEYS_ONLY' },
  {
    indexName: 'some',
    partitionKey: S('kind'),
    projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['title', 'gone'] },
  },
]
const SHOWN = [
  { indexName: 'whole', partitionKey: S('kind') },
  {
    indexName: 'bare',
    partitionKey: S('kind'),
    sortKey: S('at'),
    projection: { projectionType: 'KEYS_ONLY' },
  },
  {
    indexName: 'some',
    partitionKey: S('kind'),
    projection: { projectionType: 'INCLUDE', nonKeyAttributes: ['title', 'gone'] },
  },
]
const CONFIG = { partitionKey: S('id'), globalSecondaryIndexes: INDEXES }
const ITEM = { id: '1', kind: 'note', at: 'now', title: 'T', text: 'long', size: 4 }
const QUERY = {
  keyConditionExpression: 'kind = :k',
  expressionAttributeValues: { ':k': 'note' },
}

let stack: Stack
let site: RuntimeSite
let table: SiteTable
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  table = await SiteTable.create(site, 'notes', CONFIG)
  await table.do('put', { item: ITEM })
})
afterAll(() => stack[Symbol.asyncDispose]())

describe.each(['query', 'scan'] as const)('a %s of an index', (action) => {
  const ask = (indexName: string, rest: object = {}) => ({
    ...(action === 'query' ? QUERY : {}),
    indexName,
    ...rest,
  })

  test.each([
    ['whole', ITEM],
    ['bare', { id: '1', kind: 'note', at: 'now' }],
    ['some', { id: '1', kind: 'note', title: 'T' }],
  ])('%s shows what it holds', async (indexName, shown) => {
    for (const select of [undefined, 'ALL_PROJECTED_ATTRIBUTES']) {
      const page = await table.do(action, ask(indexName, { ...(select && { select }) }))
      expect(page).toMatchObject({ items: [shown], count: 1 })
      expect(Object.keys(page.items[0])).toHaveLength(Object.keys(shown).length)
    }
    const counted = await table.do(action, ask(indexName, { select: 'COUNT' }))
    expect(counted).toMatchObject({ items: [], count: 1 })
  })

  test.each([
    ['bare', { select: 'ALL_ATTRIBUTES' }, 'its projection type is not ALL'],
    ['bare', { projectionExpression: 'id, title' }, 'index bare does not project [title]'],
    [
      'some',
      { filterExpression: 'attribute_exists(#t)', expressionAttributeNames: { '#t': 'text' } },
      'index some does not project one or more filter attributes: [text]',
    ],
  ])('%s refuses %j', async (indexName, rest, words) => {
    const { status, message } = await table.fail(action, ask(indexName, rest))
    expect(status).toBe(400)
    expect(message).toContain(words)
  })

  test('takes projections and filters of what it holds', async () => {
    const page = await table.do(
      action,
      ask('some', { projectionExpression: 'title', filterExpression: 'attribute_exists(title)' }),
    )
    expect(page.items).toEqual([{ title: 'T' }])
    expect((await table.do(action, ask('whole', { select: 'ALL_ATTRIBUTES' }))).items).toEqual([
      ITEM,
    ])
  })
})

describe('the projection of an index', () => {
  test('is shown in one form, by the resource, the list and the export', async () => {
    const { json } = await site.admin('GET', '/resources')
    const [listed] = json.resources
    expect(listed.config.globalSecondaryIndexes).toEqual(SHOWN)
    const one = await site.admin('GET', `/resources/${listed.resourceId}`)
    expect(one.json.config).toEqual(listed.config)
    const { resources } = (await site.admin('GET', '/iac/export')).json
    expect(resources[0].config).toEqual(listed.config)
  })

  test('may be changed, and holds at once', async () => {
    const own = await SiteTable.create(site, 'changing', CONFIG)
    await own.do('put', { item: ITEM })
    const { resources } = (await site.admin('GET', '/resources')).json
    const { resourceId } = resources.find(({ name }: { name: string }) => name === 'changing')
    const changed = await site.admin('PATCH', `/resources/${resourceId}`, {
      config: { globalSecondaryIndexes: [{ ...INDEXES[1], projection: 'ALL' }] },
    })
    expect(changed.status).toBe(200)
    expect((await own.do('query', { ...QUERY, indexName: 'bare' })).items).toEqual([ITEM])
  })

  test('comes from a definition, which changes nothing the second time', async () => {
    const definition = { resources: [{ type: 'ddbTable', name: 'defined', config: CONFIG }] }
    const summaries = []
    for (const mode of ['apply', 'plan']) {
      const { json } = await site.admin('POST', '/iac/jobs', { mode, definition })
      const job = async () => (await site.admin('GET', `/iac/jobs/${json.jobId}`)).json
      await expect.poll(async () => (await job()).status).toBe('succeeded')
      const { created, updated, unchanged } = (await job()).summary
      summaries.push({ created, updated, unchanged })
    }
    expect(summaries).toEqual([
      { created: 1, updated: 0, unchanged: 0 },
      { created: 0, updated: 0, unchanged: 1 },
    ])
  })

  test('holds for site code and presets', async () => {
    const { resources } = (await site.admin('GET', '/resources')).json
    const { resourceId } = resources.find(({ name }: { name: string }) => name === 'notes')
    const code = `export default (input, { table }) => table('notes').query(${JSON.stringify({ ...QUERY, indexName: 'bare' })})`
    const lambdaResourceId = await site.putFunction('asks', code, {
      resources: [{ resourceId, access: 'read' }],
    })
    await site.putOperation('asks', { lambdaResourceId, auth: { mode: 'public' } })
    await site.putOperation('preset', {
      auth: { mode: 'public' },
      preset: { preset: 'ddb.query', resourceId, fixed: { ...QUERY, indexName: 'bare' } },
    })
    await site.synced()
    for (const operation of ['asks', 'preset']) {
      const { json } = await site.call(operation, {})
      expect(json.data?.items, JSON.stringify(json)).toEqual([{ id: '1', kind: 'note', at: 'now' }])
    }
  })
})
