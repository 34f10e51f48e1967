import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const ANN = 'ann@visitors.test'
const BOB = 'bob@visitors.test'

let stack: Stack
let site: RuntimeSite
let tokens: { ann: string; bob: string }
const ids: Record<string, string> = {}

const subOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub

async function putResource(at: RuntimeSite, type: string, name: string, config: object = {}) {
  const made = await at.admin('POST', '/resources', { type, name, config })
  expect(made.status).toBe(200)
  ids[`${at.host} ${name}`] = made.json.resourceId
  return made.json.resourceId as string
}
const idOf = (name: string, at = site): string => ids[`${at.host} ${name}`] ?? ''

/** An operation for signed-in visitors. */
const bind = (operation: string, name: string, preset: object, rest: object = {}) =>
  site.putOperation(operation, { preset: { resourceId: idOf(name), ...preset }, ...rest })

async function ok(answer: ReturnType<RuntimeSite['call']>) {
  const { status, json, text } = await answer
  expect(status, text).toBe(200)
  return json.data
}

beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  tokens = {
    ann: await stack.dataToken('one.test', { user: ANN }),
    bob: await stack.dataToken('one.test', { user: BOB }),
  }
  const S = (name: string) => ({ name, type: 'S' })
  await putResource(site, 'ddbTable', 'products', { partitionKey: S('id') })
  await putResource(site, 'ddbTable', 'notes', {
    partitionKey: S('id'),
    globalSecondaryIndexes: [
      { name: 'byTopic', partitionKey: S('topic') },
      { name: 'byOwner', partitionKey: S('topic'), sortKey: S('userId') },
    ],
  })
  await putResource(site, 'ddbTable', 'carts', { partitionKey: S('who'), sortKey: S('line') })
  await putResource(site, 's3Bucket', 'files')
  const open = { auth: { mode: 'public' } }
  await bind('product', 'products', { preset: 'ddb.get' }, { ...open, cache: { ttlSeconds: 60 } })
  await bind('offer', 'products', {
    preset: 'ddb.put',
    fixed: { item: { kind: 'offer' }, conditionExpression: 'attribute_not_exists(id)' },
  })
  await bind(
    'offers',
    'products',
    {
      preset: 'ddb.scan',
      fixed: {
        filterExpression: 'kind = :kind',
        expressionAttributeValues: { ':kind': 'offer' },
        projectionExpression: 'id',
      },
    },
    open,
  )
  const note = { owner: { attribute: 'userId' } }
  await bind('note', 'notes', { preset: 'ddb.get', ...note })
  await bind('saveNote', 'notes', {
    preset: 'ddb.put',
    ...note,
    allowed: [
      'item',
      'conditionExpression',
      'expressionAttributeValues',
      'returnValues',
      'expressionAttributeNames',
    ],
  })
  await bind('editNote', 'notes', {
    preset: 'ddb.update',
    ...note,
    allowed: [
      'key',
      'updateExpression',
      'conditionExpression',
      'expressionAttributeNames',
      'expressionAttributeValues',
      'returnValues',
    ],
  })
  await bind('dropNote', 'notes', {
    preset: 'ddb.delete',
    ...note,
    allowed: [
      'key',
      'conditionExpression',
      'expressionAttributeNames',
      'expressionAttributeValues',
      'returnValues',
    ],
  })
  const page = [
    'limit',
    'nextToken',
    'filterExpression',
    'expressionAttributeNames',
    'expressionAttributeValues',
    'select',
  ]
  await bind('notesOn', 'notes', {
    preset: 'ddb.query',
    ...note,
    allowed: [...page, 'keyConditionExpression', 'indexName'],
  })
  await bind('myNotes', 'notes', { preset: 'ddb.scan', ...note, allowed: [...page, 'indexName'] })
  const cart = { owner: { attribute: 'who' } }
  await bind('line', 'carts', { preset: 'ddb.get', ...cart })
  await bind('setLine', 'carts', { preset: 'ddb.put', ...cart })
  await bind('dropLine', 'carts', { preset: 'ddb.delete', ...cart })
  await bind('cart', 'carts', {
    preset: 'ddb.query',
    ...cart,
    allowed: [...page, 'keyConditionExpression'],
  })
  await bind('allLines', 'carts', { preset: 'ddb.scan', ...cart })
  for (const action of [
    'list-objects',
    'get-object',
    'put-object',
    'delete-object',
    'presign-get-object',
    'presign-put-object',
  ]) {
    await bind(`own-${action}`, 'files', { preset: `s3.${action}`, owner: { prefix: 'users' } })
    await bind(`all-${action}`, 'files', { preset: `s3.${action}` }, open)
  }
  await site.synced()
})
afterAll(() => stack[Symbol.asyncDispose]())

const as = (who: 'ann' | 'bob', operation: string, payload?: unknown) =>
  site.callAs(tokens[who], operation, payload)

describe('a preset on a table', () => {
  test('answers the public by what its developer fixed', async () => {
    const made = await ok(as('ann', 'offer', { item: { id: 'p1', kind: 'other', secret: 's' } }))
    expect(made).toEqual({ ok: true })
    expect(await ok(site.call('offers', {}))).toMatchObject({ items: [{ id: 'p1' }], count: 1 })
    expect(await ok(site.call('product', { Key: { id: 'p1' } }))).toEqual({
      item: { id: 'p1', kind: 'offer', secret: 's' },
    })
    expect(await as('ann', 'offer', { item: { id: 'p1' } })).toMatchObject({
      status: 409,
      json: { ok: false, error: { code: 'ConditionalCheckFailed' } },
    })
  })

  test.each<[string, unknown, RegExp]>([
    [
      'another filter',
      { filterExpression: 'attribute_exists(id)' },
      /payload\.filterExpression: is fixed/,
    ],
    ['the same in DynamoDB’s spelling', { FilterExpression: 'attribute_exists(id)' }, /is fixed/],
    ['more attributes', { projectionExpression: 'secret' }, /is fixed/],
    ['a place of its own', { exclusiveStartKey: { id: 'a' } }, /payload\.exclusiveStartKey/],
    ['another index', { indexName: 'x' }, /payload\.indexName/],
    ['a list', [], /payload: must be a JSON object/],
  ])('refuses %s by name', async (_what, payload, words) => {
    const answer = await site.call('offers', payload)
    expect(answer).toMatchObject({
      status: 400,
      json: { ok: false, error: { code: 'ValidationError' } },
    })
    expect(answer.json.error.message).toMatch(words)
  })

  test('keeps its answers, counts its calls and logs its refusals', async () => {
    await ok(site.call('product', { key: { id: 'kept' } }))
    const again = await site.call('product', { key: { id: 'kept' } })
    expect(again.headers['x-cache']).toBe('HIT')
    const wrong = await site.call('product', { key: { nope: 1 } })
    expect(wrong.json.error.message).toBe('The provided key element does not match the schema')
    const logs = await site.admin('GET', '/logs?operation=product')
    expect(logs.json.items[0]).toMatchObject({ level: 'info', kind: 'failure' })
    const usage = await site.admin('GET', '/usage')
    expect(JSON.stringify(usage.json)).toContain('"product"')
  })

  test('keeps its table from being deleted', async () => {
    const answer = await site.admin('DELETE', `/resources/${idOf('products')}`)
    expect(answer).toMatchObject({ status: 409, json: { error: { code: 'ResourceInUse' } } })
    expect(answer.json.error.operations).toEqual(['offer', 'offers', 'product'])
  })

  test('shows in the list of operations what was bound', async () => {
    const { json } = await site.admin('GET', '/resources')
    const listed = json.operations.find(
      ({ operation }: { operation: string }) => operation === 'offer',
    )
    expect(listed).toMatchObject({
      resourceId: idOf('products'),
      preset: { preset: 'ddb.put', fixed: { item: { kind: 'offer' } } },
    })
  })
})

describe('an operation on what is its caller’s own', () => {
  const foreign = { id: 'bobs', topic: 'tea', text: 'of Bob' }
  const seen = (data: unknown) => expect(JSON.stringify(data)).not.toMatch(/of Bob|bobs/)
  const bobs = async () => (await ok(as('bob', 'note', { key: { id: 'bobs' } }))).item

  beforeAll(async () => {
    await ok(as('bob', 'saveNote', { item: foreign }))
    await ok(
      as('ann', 'saveNote', { item: { id: 'anns', topic: 'tea', userId: subOf(tokens.bob) } }),
    )
    await ok(as('bob', 'setLine', { item: { line: '1', what: 'of Bob' } }))
    await ok(as('ann', 'setLine', { item: { line: '1', what: 'of Ann', who: subOf(tokens.bob) } }))
  })

  test('writes the owner, and reads what is the caller’s', async () => {
    expect(await ok(as('ann', 'note', { key: { id: 'anns' } }))).toEqual({
      item: { id: 'anns', topic: 'tea', userId: subOf(tokens.ann) },
    })
    const query = {
      indexName: 'byTopic',
      keyConditionExpression: 'topic = :t',
      expressionAttributeValues: { ':t': 'tea' },
    }
    expect(await ok(as('ann', 'notesOn', query))).toMatchObject({
      items: [{ id: 'anns' }],
      count: 1,
      scannedCount: 1,
    })
    expect(await ok(as('ann', 'notesOn', { ...query, indexName: 'byOwner' }))).toMatchObject({
      items: [{ id: 'anns' }],
    })
    const scanned = await ok(as('ann', 'myNotes', {}))
    expect(scanned).toMatchObject({
      items: [{ id: 'anns' }],
      count: 1,
      scannedCount: 1,
      nextToken: null,
    })
    expect(scanned).not.toHaveProperty('lastEvaluatedKey')
    expect(await ok(as('ann', 'line', { key: { line: '1' } }))).toMatchObject({
      item: { what: 'of Ann' },
    })
    for (const payload of [
      {},
      { keyConditionExpression: 'line = :l', expressionAttributeValues: { ':l': '1' } },
    ]) {
      expect(await ok(as('ann', 'cart', payload))).toMatchObject({
        items: [{ what: 'of Ann' }],
        count: 1,
      })
    }
    expect(await ok(as('ann', 'allLines', {}))).toMatchObject({
      items: [{ what: 'of Ann' }],
      scannedCount: 1,
    })
  })

  test('turns pages without a word of what lies between', async () => {
    for (const id of ['a', 'b', 'c'])
      await ok(as('ann', 'saveNote', { item: { id, topic: 'pages' } }))
    for (const id of ['a1', 'b1', 'c1'])
      await ok(as('bob', 'saveNote', { item: { id, topic: 'pages', text: 'of Bob' } }))
    const found: string[] = []
    const given: string[] = []
    let nextToken: string | null | undefined
    do {
      const page = await ok(as('ann', 'myNotes', { limit: 1, ...(nextToken ? { nextToken } : {}) }))
      seen(page)
      expect(page.scannedCount).toBe(page.count)
      found.push(...page.items.map(({ id }: { id: string }) => id))
      nextToken = page.nextToken
      if (nextToken) given.push(nextToken)
    } while (nextToken)
    expect(found.toSorted()).toEqual(['a', 'anns', 'b', 'c'])
    for (const token of given)
      expect(Buffer.from(token, 'base64url').toString('latin1')).not.toMatch(/"id"|bobs/)
    const stolen = await as('bob', 'myNotes', { limit: 1, nextToken: given[0] })
    expect(stolen).toMatchObject({ status: 400, json: { error: { code: 'InvalidNextToken' } } })
    for (const id of ['a', 'b', 'c']) await ok(as('ann', 'dropNote', { key: { id } }))
    for (const id of ['a1', 'b1', 'c1']) await ok(as('bob', 'dropNote', { key: { id } }))
  })

  const values = { ':t': 'tea', ':b': 'x' }
  const key = { id: 'bobs' }
  const v = { expressionAttributeValues: { ':x': 'Ann was here' } }
  test.each<[string, string, unknown, number]>([
    ['read by key', 'note', { key }, 200],
    ['read by key in DynamoDB’s spelling', 'note', { Key: key }, 200],
    [
      'read by key with a projection',
      'note',
      { key, projectionExpression: '#t', expressionAttributeNames: { '#t': 'text' } },
      200,
    ],
    ['read with the owner in the key', 'note', { key: { ...key, userId: 'x' } }, 400],
    ['read with a condition', 'note', { key, filterExpression: 'attribute_exists(id)' }, 400],
    [
      'read over an index',
      'notesOn',
      {
        indexName: 'byTopic',
        keyConditionExpression: 'topic = :t',
        filterExpression: '#text <> :b',
        expressionAttributeNames: { '#text': 'text' },
        expressionAttributeValues: values,
      },
      200,
    ],
    [
      'read over an index with OR',
      'notesOn',
      {
        indexName: 'byTopic',
        keyConditionExpression: 'topic = :t',
        filterExpression: 'id = :t OR id <> :b',
        expressionAttributeValues: values,
      },
      200,
    ],
    [
      'read out of parentheses',
      'notesOn',
      {
        indexName: 'byTopic',
        keyConditionExpression: 'topic = :t',
        filterExpression: 'id = :t) OR (id <> :b',
        expressionAttributeValues: values,
      },
      400,
    ],
    [
      'read as another owner',
      'notesOn',
      {
        indexName: 'byOwner',
        keyConditionExpression: 'topic = :t AND #o = :b',
        expressionAttributeNames: { '#o': 'userId' },
        expressionAttributeValues: values,
      },
      400,
    ],
    [
      'read by an unknown index',
      'notesOn',
      {
        indexName: 'none',
        keyConditionExpression: 'topic = :t',
        expressionAttributeValues: { ':t': 'tea' },
      },
      400,
    ],
    ['read from a place of one’s own', 'myNotes', { exclusiveStartKey: key }, 400],
    [
      'read with our placeholder',
      'myNotes',
      { filterExpression: ':croftOwner = :croftOwner' },
      400,
    ],
    [
      'read with our placeholder’s value',
      'myNotes',
      {
        filterExpression: '#a = :croftOwner',
        expressionAttributeNames: { '#a': 'topic' },
        expressionAttributeValues: { ':croftOwner': 'x' },
      },
      400,
    ],
    [
      'read with our placeholder’s name',
      'myNotes',
      {
        filterExpression: '#croftOwner <> :b',
        expressionAttributeNames: { '#croftOwner': 'topic' },
        expressionAttributeValues: { ':b': 'x' },
      },
      400,
    ],
    [
      'counted',
      'notesOn',
      {
        indexName: 'byTopic',
        keyConditionExpression: 'topic = :t',
        select: 'COUNT',
        filterExpression: 'begins_with(#t, :b)',
        expressionAttributeNames: { '#t': 'text' },
        expressionAttributeValues: { ':t': 'tea', ':b': 'of' },
      },
      200,
    ],
    ['overwritten', 'saveNote', { item: { id: 'bobs' } }, 409],
    [
      'overwritten on a condition',
      'saveNote',
      { item: { id: 'bobs' }, conditionExpression: 'attribute_exists(id)' },
      409,
    ],
    [
      'overwritten out of parentheses',
      'saveNote',
      {
        item: { id: 'bobs' },
        conditionExpression: 'attribute_exists(id)) OR (attribute_exists(id)',
      },
      400,
    ],
    ['overwritten and shown', 'saveNote', { item: { id: 'bobs' }, returnValues: 'ALL_OLD' }, 409],
    [
      'overwritten and shown on failure',
      'saveNote',
      { item: { id: 'bobs' }, returnValuesOnConditionCheckFailure: 'ALL_OLD' },
      400,
    ],
    [
      'changed',
      'editNote',
      {
        key,
        updateExpression: 'SET #t = :x',
        expressionAttributeNames: { '#t': 'text' },
        ...v,
        returnValues: 'ALL_OLD',
      },
      409,
    ],
    [
      'changed on a condition',
      'editNote',
      { key, updateExpression: 'SET topic = :x', conditionExpression: 'topic <> :x', ...v },
      409,
    ],
    [
      'changed with OR',
      'editNote',
      {
        key,
        updateExpression: 'SET topic = :x',
        conditionExpression: 'topic = :x OR topic <> :x',
        ...v,
      },
      409,
    ],
    ['taken', 'editNote', { key, updateExpression: 'SET userId = :x', ...v }, 400],
    [
      'made in another’s place',
      'editNote',
      { key: { id: 'new' }, updateExpression: 'SET topic = :x', ...v },
      409,
    ],
    ['deleted', 'dropNote', { key, returnValues: 'ALL_OLD' }, 409],
    [
      'deleted on a condition',
      'dropNote',
      { key, conditionExpression: 'attribute_exists(id)' },
      409,
    ],
    [
      'read in another’s partition',
      'cart',
      { keyConditionExpression: 'who = :b', expressionAttributeValues: { ':b': 'x' } },
      400,
    ],
    ['read as a line of another', 'line', { key: { who: 'x', line: '1' } }, 200],
  ])('lets nothing of another be %s', async (_what, operation, payload, outcome) => {
    const answer = await as(
      'ann',
      operation,
      JSON.parse(JSON.stringify(payload).replaceAll('"x"', JSON.stringify(subOf(tokens.bob)))),
    )
    seen(answer.json)
    expect(answer.status, answer.text).toBe(outcome)
    const { items = [], count = items.length } = answer.json.data ?? {}
    expect(count).toBe(items.length)
    expect(await bobs()).toEqual({ ...foreign, userId: subOf(tokens.bob) })
  })

  test.each([
    ['by name', { updateExpression: 'SET userId = :v' }],
    [
      'by placeholder',
      { updateExpression: 'SET #o = :v', expressionAttributeNames: { '#o': 'userId' } },
    ],
    ['by a path below', { updateExpression: 'SET userId.a = :v' }],
    ['by removal', { updateExpression: 'REMOVE userId', expressionAttributeValues: undefined }],
    ['by removal in passing', { updateExpression: 'SET topic = :v REMOVE userId' }],
    ['by ADD', { updateExpression: 'ADD userId :v', expressionAttributeValues: { ':v': 1 } }],
  ])('never gives an item away %s', async (_what, change) => {
    const answer = await as('ann', 'editNote', {
      key: { id: 'anns' },
      expressionAttributeValues: { ':v': subOf(tokens.bob) },
      ...change,
    })
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(answer.json.error.message).toMatch(/"userId" says whose the item is/)
  })

  test('changes and deletes what is the caller’s', async () => {
    const edited = await ok(
      as('ann', 'editNote', {
        key: { id: 'anns' },
        updateExpression: 'SET topic = :t',
        conditionExpression: '(topic = :old)',
        expressionAttributeValues: { ':t': 'coffee', ':old': 'tea' },
        returnValues: 'ALL_NEW',
      }),
    )
    expect(edited.attributes).toMatchObject({ id: 'anns', topic: 'coffee' })
    await ok(as('ann', 'dropNote', { key: { id: 'anns' } }))
    expect(await ok(as('ann', 'note', { key: { id: 'anns' } }))).toEqual({ item: null })
    await ok(as('ann', 'dropLine', { key: { line: '1', who: subOf(tokens.bob) } }))
    expect(await ok(as('bob', 'line', { key: { line: '1' } }))).toMatchObject({
      item: { what: 'of Bob' },
    })
  })

  test('is for callers: strangers, other sites’ visitors and the site itself are refused', async () => {
    expect((await site.call('note', { key: { id: 'bobs' } })).status).toBe(401)
    const elsewhere = await stack.dataToken('two.test', { user: BOB })
    expect((await site.callAs(elsewhere, 'note', { key: { id: 'bobs' } })).status).toBe(401)
    const { siteId } = await stack.context.sites.find('one.test')
    const call = { site: { siteId, domain: 'one.test' }, operation: 'note', requestId: 'r' }
    await expect(
      stack.context.operationCalls.call({
        ...call,
        authority: 'system',
        depth: 0,
        body: '{"payload":{"key":{"id":"bobs"}}}',
      }),
    ).rejects.toMatchObject({ code: 'Forbidden' })
  })
})

describe('a preset on a bucket', () => {
  test('keeps each caller in a folder of its own', async () => {
    const put = (who: 'ann' | 'bob', body: string) =>
      ok(as(who, 'own-put-object', { key: 'notes/a.txt', body, contentType: 'text/plain' }))
    expect(await put('ann', 'of Ann')).toMatchObject({ ok: true, key: 'notes/a.txt' })
    await put('bob', 'of Bob')
    expect(await ok(as('ann', 'own-get-object', { key: 'notes/a.txt' }))).toMatchObject({
      key: 'notes/a.txt',
      body: 'of Ann',
    })
    expect(await ok(as('ann', 'own-list-objects', {}))).toMatchObject({
      items: [{ key: 'notes/a.txt' }],
    })
    expect(await ok(as('ann', 'own-list-objects', { delimiter: '/' }))).toMatchObject({
      items: [],
      commonPrefixes: ['notes/'],
    })
    const all = await ok(site.call('all-list-objects', { prefix: 'users/' }))
    expect(all.items.map(({ key }: { key: string }) => key).toSorted()).toEqual(
      [subOf(tokens.ann), subOf(tokens.bob)].map((sub) => `users/${sub}/notes/a.txt`).toSorted(),
    )
    const signed = await ok(as('ann', 'own-presign-get-object', { key: 'notes/a.txt' }))
    const { pathname, search } = new URL(signed.url)
    const fetched = await stack.call('one.test', 'GET', pathname + search, {
      headers: signed.headers,
    })
    expect(fetched.text).toBe('of Ann')
    await ok(as('ann', 'own-delete-object', { key: 'notes/a.txt' }))
    expect((await as('ann', 'own-get-object', { key: 'notes/a.txt' })).status).toBe(404)
    expect(await ok(as('bob', 'own-get-object', { key: 'notes/a.txt' }))).toMatchObject({
      body: 'of Bob',
    })
  })

  test.each<[string, string, unknown, number]>([
    ['by dots', 'own-get-object', { key: '../SUB/notes/a.txt' }, 400],
    ['by dots in the middle', 'own-get-object', { key: 'x/../../SUB/notes/a.txt' }, 400],
    ['by the whole key', 'own-get-object', { key: 'users/SUB/notes/a.txt' }, 404],
    ['by a list of all', 'own-list-objects', { prefix: '' }, 200],
    ['by a list of dots', 'own-list-objects', { prefix: '../' }, 400],
    ['by a place in the list', 'own-list-objects', { startAfter: '!' }, 200],
    ['by a signed URL', 'own-presign-get-object', { key: '../SUB/notes/a.txt' }, 400],
    [
      'by an upload',
      'own-presign-put-object',
      { key: '../SUB/a', contentType: 'text/plain', sizeBytes: 1 },
      400,
    ],
    [
      'by a longer-lived URL',
      'own-presign-get-object',
      { key: 'a', expiresInSeconds: 604_800 },
      400,
    ],
    ['by deletion', 'own-delete-object', { key: '../SUB/notes/a.txt' }, 400],
  ])('is not left %s', async (_what, operation, payload, status) => {
    const sub = subOf(tokens.bob)
    const answer = await as(
      'ann',
      operation,
      JSON.parse(JSON.stringify(payload).replaceAll('SUB', sub)),
    )
    expect(answer.status, answer.text).toBe(status)
    expect(JSON.stringify(answer.json.data ?? null)).not.toMatch(new RegExp(`of Bob|${sub}`))
  })
})

describe('presets', () => {
  test('of two sites never meet, and stay after a restart', async () => {
    const two = await RuntimeSite.open(stack, 'two.test')
    await putResource(two, 'ddbTable', 'products', { partitionKey: { name: 'id', type: 'S' } })
    await two.putOperation('product', {
      preset: { preset: 'ddb.get', resourceId: idOf('products', two) },
      auth: { mode: 'public' },
    })
    await two.synced()
    await ok(as('ann', 'offer', { item: { id: 'only-one' } }))
    expect(await ok(two.call('product', { key: { id: 'only-one' } }))).toEqual({ item: null })
    const bound = await two.admin('POST', '/operations', {
      operation: 'thief',
      preset: { preset: 'ddb.get', resourceId: idOf('products') },
    })
    expect(bound).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(bound.json.error.message).toContain('does not exist')
    await using later = await startStack({ beside: stack })
    const answer = await later.call('one.test', 'POST', '/data/public/product', {
      body: { payload: { key: { id: 'only-one' } } },
    })
    expect(answer.json.data.item).toMatchObject({ id: 'only-one' })
  })
})

describe('the payload of a preset', () => {
  const offer = (item: object) => site.callAs(tokens.ann, 'offer', { item })

  test('has as many fields and values as the service reads at once', async () => {
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, 1]))
    expect(await offer({ id: 'many', ...fields(9_900) })).toMatchObject({ status: 200 })
    const tooMany = { id: 'none', ...fields(10_001) }
    expect(await offer(tooMany)).toMatchObject({
      status: 400,
      json: { error: { code: 'ValidationError', limit: 10_000 } },
    })
    const tooWide = { id: 'none', list: Array(50_001).fill(1) }
    expect(await offer(tooWide)).toMatchObject({ status: 400, json: { error: { limit: 50_000 } } })
  })

  test('has 1 MiB, unless it brings an object', async () => {
    expect(await offer({ id: 'none', text: 'x'.repeat(1024 * 1024) })).toMatchObject({
      status: 413,
      json: { error: { code: 'PayloadTooLarge', limitBytes: 1024 * 1024 } },
    })
  })
})
