import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { SiteTable } from '#test/site-table.ts'
import { type Stack, startStack } from '#test/stack.ts'

const BY_ID = { partitionKey: { name: 'id', type: 'S' } }
const STREAM = {
  partitionKey: { name: 'feed', type: 'S' },
  sortKey: { name: 'pos', type: 'N' },
  globalSecondaryIndexes: [
    {
      name: 'by-kind',
      partitionKey: { name: 'kind', type: 'S' },
      sortKey: { name: 'pos', type: 'N' },
    },
  ],
}

let stack: Stack
let one: RuntimeSite
let two: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  one = await RuntimeSite.open(stack, 'one.test')
  two = await RuntimeSite.open(stack, 'two.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at))

describe('the actions on a table', () => {
  test('all work on two sites at once, from the moment the table is made', async () => {
    const worked = await Promise.all(
      [one, two].map(async (site) => {
        const table = await SiteTable.create(site, 'everything', STREAM)
        const key = { feed: 'a', pos: 1 }
        const seen: Record<string, unknown> = {}
        seen['put'] = await table.do('put', { item: { ...key, kind: 'x', of: site.host } })
        seen['get'] = await table.do('get', { key })
        seen['none'] = await table.do('get', { key: { feed: 'a', pos: 2 } })
        seen['update'] = await table.do('update', {
          key,
          updateExpression: 'SET #n = :n ADD hits :one',
          expressionAttributeNames: { '#n': 'name' },
          expressionAttributeValues: { ':n': 'Ada', ':one': 1 },
          returnValues: 'ALL_NEW',
        })
        seen['query'] = await table.do('query', {
          keyConditionExpression: 'feed = :s AND pos >= :from',
          expressionAttributeValues: { ':s': 'a', ':from': 0 },
        })
        seen['scan'] = await table.do('scan')
        seen['batch-write'] = await table.do('batch-write', {
          puts: [
            { feed: 'b', pos: 1 },
            { feed: 'b', pos: 2 },
          ],
          deletes: [{ feed: 'nothing', pos: 1 }],
        })
        seen['batch-get'] = await table.do('batch-get', {
          keys: [
            { feed: 'b', pos: 2 },
            { feed: 'nothing', pos: 1 },
            { feed: 'b', pos: 1 },
          ],
        })
        seen['transact-write'] = await table.do('transact-write', {
          actions: [
            { put: { item: { feed: 'c', pos: 1 } } },
            { delete: { key: { feed: 'b', pos: 1 } } },
            {
              conditionCheck: {
                key,
                conditionExpression: 'hits = :one',
                expressionAttributeValues: { ':one': 1 },
              },
            },
          ],
        })
        seen['delete'] = await table.do('delete', { key, returnValues: 'ALL_OLD' })
        seen['rest'] = (await table.do('scan')).items
        return seen
      }),
    )
    for (const [index, seen] of worked.entries()) {
      const item = { feed: 'a', pos: 1, kind: 'x', of: [one, two][index]?.host }
      const updated = { ...item, name: 'Ada', hits: 1 }
      const page = { items: [updated], count: 1, scannedCount: 1, nextToken: null }
      expect(seen).toEqual({
        put: { ok: true },
        get: { item },
        none: { item: null },
        update: { ok: true, attributes: updated },
        query: page,
        scan: page,
        'batch-write': { ok: true, unprocessedItems: [] },
        'batch-get': {
          items: [
            { feed: 'b', pos: 2 },
            { feed: 'b', pos: 1 },
          ],
          unprocessedKeys: [],
        },
        'transact-write': { ok: true },
        delete: { ok: true, attributes: updated },
        rest: expect.arrayContaining([
          { feed: 'b', pos: 2 },
          { feed: 'c', pos: 1 },
        ]),
      })
      expect(seen['rest']).toHaveLength(2)
    }
  })

  test('read DynamoDB’s own names, and the bare key where nothing else can be meant', async () => {
    const table = await SiteTable.create(one, 'names', BY_ID)
    await table.do('put', { Item: { id: 'a', key: 'k' }, ReturnValues: 'NONE' })
    const item = { id: 'a', key: 'k' }
    expect(await table.do('get', { Key: { id: 'a' } })).toEqual({ item })
    expect(await table.do('get', { id: 'a' })).toEqual({ item })
    expect(await table.do('get', { key: { id: 'a' }, projectionExpression: null })).toEqual({
      item,
    })
    expect(await table.do('batch-write', { requests: [{ PutRequest: { Item: item } }] })).toEqual({
      ok: true,
      unprocessedItems: [],
    })

    const keyed = await SiteTable.create(one, 'keyed-by-key', {
      partitionKey: { name: 'key', type: 'S' },
    })
    expect(await keyed.fail('get', { key: 'a' })).toMatchObject({
      status: 400,
      message: 'key: must be a JSON object',
    })
  })

  test('keep numbers of 38 digits, bytes, sets, U+0000 and strange names as they are', async () => {
    const table = await SiteTable.create(one, 'exact', BY_ID)
    const item = {
      id: 'a\u0000b',
      digits: { $number: '12345678901234567890123456789012345678' },
      tiny: -1.2345678e-31,
      plain: 0.1,
      bytes: { $binary: 'AAECAwQF/w==' },
      words: { $set: ['x', 'y\u0000'] },
      numbers: { $set: [1, { $number: '99999999999999999999' }] },
      blobs: { $set: [{ $binary: 'AA==' }] },
      nothing: null,
      yes: true,
      deep: { list: [1, [2, { three: '3' }]], $number: 'x', more: 1 },
      marker: { $map: { $set: 1 } },
      __proto__x: 'ok',
      constructor: 'a word like any other',
      'ключ ☃ \u2028': '😀',
      '': 'no name',
    }
    await table.do('put', { item })
    expect((await table.do('get', { key: { id: item.id } })).item).toEqual(item)
    expect((await table.do('scan')).items).toEqual([item])
  })

  test('are still there for another replica and after it is gone', async () => {
    const table = await SiteTable.create(one, 'kept', BY_ID)
    await table.do('put', { item: { id: 'a', n: 1 } })
    await using beside = await startStack({ beside: stack })
    const there = table.seenBy(await RuntimeSite.open(beside, 'one.test'))
    expect(await there.do('get', { key: { id: 'a' } })).toEqual({ item: { id: 'a', n: 1 } })
    await there.do('update', {
      key: { id: 'a' },
      updateExpression: 'ADD n :one',
      expressionAttributeValues: { ':one': 1 },
    })
    expect(await table.do('get', { key: { id: 'a' } })).toEqual({ item: { id: 'a', n: 2 } })
  })

  test('stay inside their site', async () => {
    const table = await SiteTable.create(one, 'mine', BY_ID)
    await table.do('put', { item: { id: 'a', secret: 'word' } })
    const foreign = table.seenBy(two)
    for (const [action, body] of [
      ['get', { key: { id: 'a' } }],
      ['scan', {}],
      ['put', { item: { id: 'a' } }],
      ['batch-get', { keys: [{ id: 'a' }] }],
      ['transact-write', { actions: [{ delete: { key: { id: 'a' } } }] }],
    ] as const) {
      const failure = await foreign.fail(action, body)
      expect(failure, action).toMatchObject({ status: 404, code: 'ResourceNotFound' })
    }
    expect((await table.do('get', { key: { id: 'a' } })).item.secret).toBe('word')
  })
})

describe('a request that cannot be performed', () => {
  let table: SiteTable
  beforeAll(async () => {
    table = await SiteTable.create(one, 'strict', STREAM)
  })
  const key = { feed: 'a', pos: 1 }

  test.each([
    ['no field', 'get', {}, 'key: is required'],
    ['a list for a body', 'get', [], 'body: must be a JSON object'],
    ['a text for a key', 'get', { key: 'a' }, 'key: must be a JSON object'],
    [
      'one field in both spellings',
      'get',
      { key, Key: key },
      'Key: "key" and "Key" are the same field: send one',
    ],
    [
      'a misspelt field',
      'get',
      { key, projectonExpression: 'a' },
      'projectonExpression: is not a field here: did you mean "projectionExpression"?',
    ],
    [
      'an unknown field',
      'get',
      { key, colour: 'red' },
      'colour: is not a field here; the fields are "key", "projectionExpression", "expressionAttributeNames", "consistentRead"',
    ],
    [
      'the name of a table',
      'get',
      { Key: key, TableName: 'other' },
      'TableName: is not read: the call already says which table it means',
    ],
    [
      'a field of the old API',
      'query',
      { keyConditions: {} },
      'keyConditions: is not read: use "keyConditionExpression"',
    ],
    [
      'a limit of nothing',
      'scan',
      { limit: 0 },
      'limit: must be a whole number from 1 to 2147483647',
    ],
    [
      'a word for a limit',
      'scan',
      { limit: '5' },
      'limit: must be a whole number from 1 to 2147483647',
    ],
    [
      'a choice that is none',
      'put',
      { item: key, returnValues: 'ALL_NEW' },
      'returnValues: must be one of "NONE", "ALL_OLD"',
    ],
    [
      'a name that stands for no name',
      'scan',
      { projectionExpression: '#a', expressionAttributeNames: { '#a': 1 } },
      'expressionAttributeNames: "#a" must stand for a string, the name of an attribute',
    ],
    [
      'two starts',
      'scan',
      { nextToken: 'x', exclusiveStartKey: key },
      'nextToken: says where to start, and so does "exclusiveStartKey": send one',
    ],
    [
      'an element that is no object',
      'batch-get',
      { keys: [key, 1] },
      'keys[1]: must be a JSON object',
    ],
    ['nothing to write', 'batch-write', {}, 'puts: send "puts", "deletes" or both, not empty'],
    [
      'two things in one action',
      'transact-write',
      { actions: [{ put: { item: key }, delete: { key } }] },
      'actions[0]: must have exactly one of "put", "update", "delete", "conditionCheck"',
    ],
    [
      'a field inside an action that is none',
      'transact-write',
      { actions: [{ put: { item: key, condition: 'x' } }] },
      'actions[0].put.condition: is not a field here; the fields are "item", "conditionExpression", "expressionAttributeNames", "expressionAttributeValues", "returnValuesOnConditionCheckFailure"',
    ],
    // DynamoDB's own words.
    [
      'half a key',
      'get',
      { key: { feed: 'a' } },
      'The provided key element does not match the schema',
    ],
    [
      'an item without its key',
      'put',
      { item: { feed: 'a' } },
      'One or more parameter values were invalid: Missing the key pos in the item',
    ],
    [
      'a value that is not used',
      'scan',
      { filterExpression: 'a = :a', expressionAttributeValues: { ':a': 1, ':b': 2 } },
      'Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}',
    ],
    [
      'an item without its key in a batch',
      'batch-write',
      { puts: [{ feed: 'a' }] },
      'The provided key element does not match the schema',
    ],
    [
      'keys twice in a batch',
      'batch-get',
      { keys: [key, { pos: 1, feed: 'a' }] },
      'Provided list of item keys contains duplicates',
    ],
    [
      'one item put and deleted in a batch',
      'batch-write',
      { puts: [key], deletes: [key] },
      'Provided list of item keys contains duplicates',
    ],
    [
      '101 keys',
      'batch-get',
      { keys: times(101, (at) => ({ feed: 'a', pos: at })) },
      'keys: must be a list of 1 to 100',
    ],
    [
      '26 writes',
      'batch-write',
      {
        puts: times(13, (at) => ({ feed: 'a', pos: at })),
        deletes: times(13, (at) => ({ feed: 'b', pos: at })),
      },
      'Too many items requested for the BatchWriteItem call',
    ],
    [
      '101 actions',
      'transact-write',
      { actions: times(101, (at) => ({ delete: { key: { feed: 'a', pos: at } } })) },
      'actions: must be a list of 1 to 100',
    ],
    [
      'two actions on one item',
      'transact-write',
      { actions: [{ put: { item: key } }, { delete: { key } }] },
      'Transaction request cannot include multiple operations on one item',
    ],
    [
      'more than 4 MB in a transaction',
      'transact-write',
      {
        actions: times(11, (at) => ({
          put: { item: { feed: 'a', pos: at, t: 'x'.repeat(400_000) } },
        })),
      },
      'The aggregate item size cannot exceed 4 MB in a transaction',
    ],
  ])('because of %s is a 400 that says what to do', async (_what, action, body, message) => {
    expect(await table.fail(action, body)).toMatchObject({
      status: 400,
      code: 'ValidationError',
      message,
    })
    expect((await table.do('scan')).items).toEqual([])
  })

  test('is distinguished by what it is about', async () => {
    const bucket = await one.admin('POST', '/resources', { type: 's3Bucket', name: 'no-table' })
    const on = (id: string, action: string) =>
      one.admin('POST', `/resources/${id}/data/ddb/${action}`, { key })
    expect(await on(bucket.json.resourceId, 'get')).toMatchObject({
      status: 400,
      json: {
        error: {
          code: 'ValidationError',
          message: 'resourceId: "no-table" is of type s3Bucket: these actions are for a ddbTable',
        },
      },
    })
    expect(await on('res_nothing', 'get')).toMatchObject({
      status: 404,
      json: { error: { code: 'ResourceNotFound' } },
    })
    const unknown = await on(table.resourceId, 'truncate')
    expect(unknown).toMatchObject({ status: 404, json: { error: { code: 'RouteNotFound' } } })
    expect(unknown.json.error.actions).toEqual([
      'get',
      'query',
      'scan',
      'put',
      'update',
      'delete',
      'batch-get',
      'batch-write',
      'transact-write',
    ])
    expect(unknown.json.error.message).toContain('transact-write')
    const read = await one.admin('GET', `/resources/${table.resourceId}/data/ddb/get`)
    expect(read).toMatchObject({ status: 405, headers: { allow: 'POST' } })
  })

  test('as a text is refused before it is read: broken, too deep, too long', async () => {
    const path = `/admin/data/resources/${table.resourceId}/data/ddb/put`
    const token = await stack.adminToken('one.test')
    const send = (body: string) => one.send(path, body, { authorization: `Bearer ${token}` })
    expect(await send('{"item": ')).toMatchObject({
      status: 400,
      json: { error: { code: 'InvalidJson' } },
    })
    const deep = `{"item":${'['.repeat(5000)}${']'.repeat(5000)}}`
    expect(await send(deep)).toMatchObject({
      status: 400,
      json: { error: { code: 'ValidationError', limit: 256 } },
    })
    const long = await send(`{"item":{"feed":"${'x'.repeat(7_000_000)}"}}`)
    expect(long).toMatchObject({ status: 413, json: { error: { code: 'PayloadTooLarge' } } })
    const nested = `${'{"m":'.repeat(40)}1${'}'.repeat(40)}`
    const levels = await send(`{"item":{"feed":"a","pos":1,"m":${nested}}}`)
    expect(levels).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(levels.json.error.message).toContain('Nesting Levels')
  })

  test('of the wrong role or of a stranger is refused', async () => {
    const path = `/admin/data/resources/${table.resourceId}/data/ddb/scan`
    const tokens = {
      user: [403, await stack.adminToken('one.test', 'user')],
      visitor: [401, await stack.dataToken('one.test')],
      stranger: [401, await stack.adminToken('two.test')],
      nobody: [401, undefined],
    } as const
    for (const [who, [status, token]] of Object.entries(tokens)) {
      const answer = await stack.call('one.test', 'POST', path, { token, body: {} })
      expect(answer.status, who).toBe(status)
      expect(answer.json, who).not.toHaveProperty('items')
    }
  })
})

describe('a condition', () => {
  test('that fails is a 409, with the item if the request asked for it', async () => {
    const table = await SiteTable.create(one, 'conditions', BY_ID)
    const put = { item: { id: 'a', n: 2 }, conditionExpression: 'attribute_not_exists(id)' }
    await table.do('put', put)
    const refused = await table.fail('put', put)
    expect(refused).toMatchObject({
      status: 409,
      code: 'ConditionalCheckFailed',
      message: 'The conditional request failed',
    })
    expect(refused).not.toHaveProperty('item')
    const shown = await table.fail('put', {
      ...put,
      returnValuesOnConditionCheckFailure: 'ALL_OLD',
    })
    expect(shown).toMatchObject({ status: 409, item: { id: 'a', n: 2 } })
  })

  test('raced by 50 puts lets one of them through', async () => {
    const table = await SiteTable.create(one, 'races', BY_ID)
    const answers = await Promise.all(
      times(50, (at) =>
        table.call('put', {
          item: { id: 'a', at },
          conditionExpression: 'attribute_not_exists(id)',
        }),
      ),
    )
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, ...times(49, () => 409)])
    const winner = answers.findIndex(({ status }) => status === 200)
    expect((await table.do('get', { key: { id: 'a' } })).item).toEqual({ id: 'a', at: winner })
  })

  test('is not needed to count to 100 with 100 updates at once', async () => {
    const table = await SiteTable.create(one, 'counter', BY_ID)
    const answers = await Promise.all(
      times(100, () =>
        table.do('update', {
          key: { id: 'a' },
          updateExpression: 'ADD n :one',
          expressionAttributeValues: { ':one': 1 },
          returnValues: 'UPDATED_NEW',
        }),
      ),
    )
    expect(new Set(answers.map(({ attributes }) => attributes.n)).size).toBe(100)
    expect((await table.do('get', { key: { id: 'a' } })).item).toEqual({ id: 'a', n: 100 })
  })
})

describe('a page', () => {
  let table: SiteTable
  beforeAll(async () => {
    table = await SiteTable.create(one, 'pages', STREAM)
    for (const from of [0, 20]) {
      await table.do('batch-write', {
        puts: times(20, (at) => ({ feed: 'a', pos: from + at, kind: 'k', n: from + at })),
      })
    }
  })
  const query = (rest: object = {}) => ({
    keyConditionExpression: 'feed = :s',
    expressionAttributeValues: { ':s': 'a' },
    limit: 15,
    ...rest,
  })

  test.each([
    ['of a table', {}],
    ['read backwards', { scanIndexForward: false }],
    [
      'of an index',
      {
        indexName: 'by-kind',
        keyConditionExpression: 'kind = :s',
        expressionAttributeValues: { ':s': 'k' },
      },
    ],
  ])('%s leads to the next by token and by key', async (_what, rest) => {
    await stack.synced('one.test')
    const all: number[] = []
    const sizes: number[] = []
    let nextToken: string | null = null
    let exclusiveStartKey: unknown
    do {
      const byToken: Record<string, unknown> = await table.do(
        'query',
        query({ ...rest, nextToken }),
      )
      const byKey = await table.do('query', query({ ...rest, exclusiveStartKey }))
      expect(byKey).toEqual(byToken)
      const items = byToken['items'] as { pos: number }[]
      all.push(...items.map(({ pos }) => pos))
      sizes.push(items.length)
      nextToken = byToken['nextToken'] as string | null
      exclusiveStartKey = byToken['lastEvaluatedKey']
      expect(exclusiveStartKey === undefined).toBe(nextToken === null)
    } while (nextToken !== null)
    expect(sizes).toEqual([15, 15, 10])
    const inOrder = times(40, (at) => at)
    expect(all).toEqual('scanIndexForward' in rest ? inOrder.toReversed() : inOrder)
  })

  test('of a scan goes through all segments once', async () => {
    const found: number[] = []
    for (const segment of [0, 1, 2]) {
      let nextToken: string | null = null
      do {
        const page: { items: { pos: number }[]; nextToken: string | null } = await table.do(
          'scan',
          {
            segment,
            totalSegments: 3,
            limit: 7,
            nextToken,
          },
        )
        found.push(...page.items.map(({ pos }) => pos))
        nextToken = page.nextToken
      } while (nextToken !== null)
    }
    expect(found.toSorted((a, b) => a - b)).toEqual(times(40, (at) => at))
  })

  test('counts before its filter, and without its items', async () => {
    const page = await table.do(
      'query',
      query({
        filterExpression: 'n < :five',
        expressionAttributeValues: { ':s': 'a', ':five': 5 },
        select: 'COUNT',
      }),
    )
    expect(page).toEqual({
      items: [],
      count: 5,
      scannedCount: 15,
      lastEvaluatedKey: { feed: 'a', pos: 14 },
      nextToken: expect.any(String),
    })
  })

  test('is not reached by a token that is cut, changed, or of something else', async () => {
    const other = await SiteTable.create(one, 'other-pages', STREAM)
    const foreign = await SiteTable.create(two, 'pages', STREAM)
    const { nextToken } = await table.do('query', query())
    const flipped = nextToken.startsWith('A') ? `B${nextToken.slice(1)}` : `A${nextToken.slice(1)}`
    const attempts: readonly [string, SiteTable, string, object][] = [
      ['cut', table, 'query', query({ nextToken: nextToken.slice(0, -4) })],
      ['changed', table, 'query', query({ nextToken: flipped })],
      ['no token', table, 'query', query({ nextToken: 'x' })],
      ['empty', table, 'query', query({ nextToken: '' })],
      ['of a query for a scan', table, 'scan', { nextToken }],
      [
        'of another partition',
        table,
        'query',
        query({ nextToken, expressionAttributeValues: { ':s': 'b' } }),
      ],
      ['backwards', table, 'query', query({ nextToken, scanIndexForward: false })],
      ['of another table', other, 'query', query({ nextToken })],
      ['of another site', foreign, 'query', query({ nextToken })],
    ]
    for (const [what, where, action, body] of attempts) {
      expect(await where.fail(action, body), what).toMatchObject({
        status: 400,
        code: 'InvalidNextToken',
      })
    }
    const bigger = await table.do('query', query({ nextToken, limit: 2 }))
    expect(bigger.items).toHaveLength(2)
  })
})
