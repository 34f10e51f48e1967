import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** Does what its payload says with the store it names, and tells how a refusal looks to site code. */
const DESK = `
export default async ({ payload }, { table, bucket }) => {
  const { kind, name, method, input } = payload
  const store = kind === 'bucket' ? bucket(name) : table(name)
  try {
    return await store[method](input)
  } catch (error) {
    const { name, code, statusCode, message, ...rest } = error
    return { caught: { isError: error instanceof Error, name, code, statusCode, message, ...rest } }
  }
}`

let stack: Stack
const sites = new Map<string, RuntimeSite>()
beforeAll(async () => {
  stack = await startStack()
  await Promise.all(['one.test', 'two.test'].map(furnish))
})
afterAll(() => stack[Symbol.asyncDispose]())

/** A site with two tables, two buckets, and a desk for each kind of access. */
async function furnish(host: string): Promise<void> {
  const site = await RuntimeSite.open(stack, host)
  sites.set(host, site)
  const notes = await create(site, 'ddbTable', 'notes', {
    partitionKey: { name: 'owner', type: 'S' },
    sortKey: { name: 'at', type: 'N' },
  })
  const files = await create(site, 's3Bucket', 'files', {})
  await create(site, 'ddbTable', host === 'one.test' ? 'onlyOne' : 'onlyTwo', {
    partitionKey: { name: 'id', type: 'S' },
  })
  for (const access of ['read', 'write', 'readWrite']) {
    const resources = [notes, files].map((resourceId) => ({ resourceId, access }))
    const lambdaResourceId = await site.putFunction(`desk-${access}`, DESK, { resources })
    await site.putOperation(access, { lambdaResourceId, auth: { mode: 'public' } })
  }
  const lambdaResourceId = await site.putFunction('desk-none', DESK)
  await site.putOperation('none', { lambdaResourceId, auth: { mode: 'public' } })
  await site.synced()
}

async function create(
  site: RuntimeSite,
  type: string,
  name: string,
  config: object,
): Promise<string> {
  const made = await site.admin('POST', '/resources', { type, name, config })
  expect(made.status, made.text).toBe(200)
  return made.json.resourceId
}

interface Ask {
  readonly host?: string
  readonly access?: string
  readonly kind?: string
  readonly name?: string
}

/** What a function got from `ctx.table(name)[method](input)`. */
async function ask(method: string, input: unknown, about: Ask = {}) {
  const { host = 'one.test', access = 'readWrite', kind = 'table', name } = about
  const answer = await siteOf(host).call(access, {
    kind,
    name: name ?? (kind === 'table' ? 'notes' : 'files'),
    method,
    input,
  })
  expect(answer.status, answer.text).toBe(200)
  return answer.json.data
}

function siteOf(host: string): RuntimeSite {
  const site = sites.get(host)
  if (!site) throw new Error(`${host} has not been furnished`)
  return site
}

const inBucket = (method: string, input: unknown, about: Ask = {}) =>
  ask(method, input, { ...about, kind: 'bucket' })

describe('a table in site code', () => {
  test('takes and gives what its routes do, for each site its own', async () => {
    for (const host of ['one.test', 'two.test']) {
      const item = { owner: 'ada', at: 1, text: host, tags: { $set: ['a', 'b'] } }
      expect(await ask('put', { item }, { host })).toEqual({ ok: true })
    }
    for (const host of ['one.test', 'two.test']) {
      const { item } = await ask('get', { key: { owner: 'ada', at: 1 } }, { host })
      expect(item).toEqual({ owner: 'ada', at: 1, text: host, tags: { $set: ['a', 'b'] } })
      expect(await ask('get', { key: { owner: 'ada', at: 2 } }, { host })).toEqual({ item: null })
    }
  })

  test('has every action of its routes', async () => {
    const owner = 'every'
    const puts = [1, 2, 3].map((at) => ({ owner, at, n: at * 10 }))
    expect(await ask('batchWrite', { puts })).toEqual({ ok: true, unprocessedItems: [] })
    const keys = [1, 3, 9].map((at) => ({ owner, at }))
    const found = await ask('batchGet', { keys })
    expect(found).toMatchObject({ items: [{ owner }, { owner }], unprocessedKeys: [] })
    const updated = await ask('update', {
      key: { owner, at: 2 },
      updateExpression: 'SET n = n + :one',
      expressionAttributeValues: { ':one': 1 },
      returnValues: 'ALL_NEW',
    })
    expect(updated).toEqual({ ok: true, attributes: { owner, at: 2, n: 21 } })
    const actions = [
      { delete: { key: { owner, at: 1 } } },
      { put: { item: { owner, at: 4, n: 40 } } },
    ]
    expect(await ask('transactWrite', { actions })).toEqual({ ok: true })
    expect(await ask('delete', { key: { owner, at: 3 } })).toEqual({ ok: true })
    const page = await ask('query', {
      keyConditionExpression: '#owner = :owner',
      expressionAttributeNames: { '#owner': 'owner' },
      expressionAttributeValues: { ':owner': owner },
    })
    expect(page.items.map(({ at }: { at: number }) => at)).toEqual([2, 4])
    expect(page.nextToken).toBeNull()
    expect((await ask('scan', undefined)).count).toBeGreaterThanOrEqual(2)
  })

  test('writes sets, bytes and large integers as they are, and refuses what JSON would lose', async () => {
    const site = await siteWith(`
      export default async ({ payload }, { table }) => {
        const notes = table('notes')
        const item = { owner: 'rich', at: 1n, big: 12345678901234567890n, tags: new Set(['x', 'y']),
          raw: new Uint8Array([0, 255]), buffer: new Uint8Array([1, 2, 3]).buffer }
        await notes.put({ item })
        const refused = []
        for (const value of [NaN, Infinity, new Map([['a', 1]])]) {
          await notes.put({ item: { owner: 'rich', at: 2, deep: [{ value }] } }).catch((error) => refused.push(error.name + ' ' + error.message))
        }
        return { ...(await notes.get({ key: { owner: 'rich', at: 1 } })), refused }
      }`)
    const { json } = await site.call('own')
    expect(json.data).toEqual({
      item: {
        owner: 'rich',
        at: 1,
        big: { $number: '12345678901234567890' },
        tags: { $set: ['x', 'y'] },
        raw: { $binary: 'AP8=' },
        buffer: { $binary: 'AQID' },
      },
      refused: [
        'TypeError "value" is NaN: a table keeps finite numbers only',
        'TypeError "value" is Infinity: a table keeps finite numbers only',
        'TypeError "value" is a Map: a table keeps plain objects',
      ],
    })
  })

  test('gives every item of many pages one by one', async () => {
    const site = await siteWith(`
      export default async (input, ctx) => {
        const notes = ctx.table('notes')
        const owner = 'paged'
        for (let batch = 0; batch < 4; batch++) {
          await notes.batchWrite({ puts: Array.from({ length: 25 }, (_, n) => ({ owner, at: batch * 25 + n })) })
        }
        const seen = []
        const query = { keyConditionExpression: '#o = :o', expressionAttributeNames: { '#o': 'owner' }, expressionAttributeValues: { ':o': owner }, limit: 7 }
        for await (const item of notes.queryItems(query)) seen.push(item.at)
        let scanned = 0
        for await (const { owner: whose } of notes.scanItems({ limit: 9 })) if (whose === owner) scanned += 1
        const first = []
        for await (const { at } of notes.queryItems(query)) { first.push(at); if (first.length === 3) break }
        return { inOrder: seen.every((at, n) => at === n), length: seen.length, scanned, first }
      }`)
    expect((await site.call('own')).json.data).toEqual({
      inOrder: true,
      length: 100,
      scanned: 100,
      first: [0, 1, 2],
    })
  })
})

/** Site one with one more function, which may read and write the same stores, behind the operation `own`. */
async function siteWith(code: string): Promise<RuntimeSite> {
  const site = siteOf('one.test')
  const listed = await site.admin('GET', '/resources')
  const resources = listed.json.resources
    .filter(({ name }: { name: string }) => ['notes', 'files'].includes(name))
    .map(({ resourceId }: { resourceId: string }) => ({ resourceId, access: 'readWrite' }))
  const lambdaResourceId = await site.putFunction(`own-${counter++}`, code, { resources })
  await site.putOperation('own', { lambdaResourceId, auth: { mode: 'public' } })
  await site.synced()
  return site
}
let counter = 0

describe('a bucket in site code', () => {
  test('keeps text and bytes, and reads them back', async () => {
    const site = await siteWith(`
      export default async (input, { bucket }) => {
        const files = bucket('files')
        await files.putObject({ key: 'a/text.txt', body: 'grüße', contentType: 'text/plain', metadata: { by: 'ada' } })
        await files.putObject({ key: 'a/bytes', body: new Uint8Array([0, 159, 146, 150]) })
        await files.putObject({ key: 'a/blob', body: new Blob(['{"n":1}'], { type: 'application/json' }) })
        await files.putObject({ key: 'a/buffer', body: new Uint8Array([1, 2]).buffer })
        const text = await files.getObject({ key: 'a/text.txt' })
        const bytes = await files.getObject({ key: 'a/bytes' })
        const blob = await files.getObject({ key: 'a/blob' })
        const list = await files.listObjects({ prefix: 'a/' })
        const removed = await files.deleteObject({ key: 'a/buffer' })
        const odd = await files.putObject({ key: 'a/odd', body: { n: 1 } }).catch((error) => error.message)
        const gone = await files.getObject({ key: 'a/buffer' }).catch(({ code, statusCode }) => ({ code, statusCode }))
        return { text: await text.text(), raw: text, metadata: text.metadata, bytes: [...await bytes.bytes()], json: await blob.json(), type: blob.contentType,
          keys: list.items.map(({ key, size }) => key + ':' + size), removed, odd, gone }
      }`)
    expect((await site.call('own')).json.data).toMatchObject({
      text: 'grüße',
      raw: { key: 'a/text.txt', body: 'grüße', encoding: 'utf8' },
      metadata: { by: 'ada' },
      bytes: [0, 159, 146, 150],
      json: { n: 1 },
      type: 'application/json',
      keys: ['a/blob:7', 'a/buffer:2', 'a/bytes:4', 'a/text.txt:7'],
      removed: { ok: true, key: 'a/buffer' },
      odd: expect.stringContaining('use JSON.stringify'),
      gone: { code: 'ObjectNotFound', statusCode: 404 },
    })
  })

  test('signs addresses that work without the function', async () => {
    const put = await inBucket('presignPutObject', {
      key: 'direct',
      contentType: 'text/plain',
      sizeBytes: 5,
    })
    const sent = await follow(put, 'hello')
    expect([200, 204]).toContain(sent.status)
    const got = await follow(await inBucket('presignGetObject', { key: 'direct' }))
    expect(got).toMatchObject({ status: 200, text: 'hello' })
  })
})

/** Does what a signed answer says. */
function follow(signed: { method: string; url: string; headers?: object }, body?: string) {
  const { pathname, search } = new URL(signed.url)
  return stack.call('one.test', signed.method, `${pathname}${search}`, {
    headers: { ...signed.headers },
    ...(body === undefined ? {} : { body }),
  })
}

interface Refused extends Ask {
  readonly method: string
  readonly input: object
}

/** Each would tell something of what is stored, one bit at a time. */
const CONDITIONS_ON_VALUES = (() => {
  const key = { owner: 'ada', at: 1 }
  const condition = {
    conditionExpression: 'begins_with(#t, :t)',
    expressionAttributeNames: { '#t': 'text' },
    expressionAttributeValues: { ':t': 'x' },
  }
  const asked: readonly (readonly [string, object])[] = [
    ['put', { item: key, ...condition }],
    ['update', { Key: key, ConditionExpression: 'size(note) > size(body)' }],
    ['delete', { key, conditionExpression: 'attribute_not_exists(note)' }],
    ['transactWrite', { actions: [{ conditionCheck: { key, ...condition } }] }],
    ['transactWrite', { actions: [{ delete: { key, ...condition } }] }],
  ]
  return asked.map(([method, input]): [string, Refused] => [
    `stored values by a condition of ${method}`,
    { access: 'write', method, input },
  ])
})()

describe('what a function was not granted', () => {
  const key = { owner: 'ada', at: 1 }
  const item = { ...key, text: 'x' }
  test.each<[string, Refused]>([
    ['write, having read', { access: 'read', method: 'put', input: { item } }],
    ['update, having read', { access: 'read', method: 'update', input: { key } }],
    ['delete, having read', { access: 'read', method: 'delete', input: { key } }],
    ['a batch, having read', { access: 'read', method: 'batchWrite', input: { puts: [item] } }],
    [
      'a transaction, having read',
      { access: 'read', method: 'transactWrite', input: { actions: [{ put: { item } }] } },
    ],
    ['read, having write', { access: 'write', method: 'get', input: { key } }],
    ['scan, having write', { access: 'write', method: 'scan', input: {} }],
    [
      'old values of a write',
      { access: 'write', method: 'put', input: { item, returnValues: 'ALL_OLD' } },
    ],
    [
      'them in PascalCase',
      { access: 'write', method: 'put', input: { item, ReturnValues: 'ALL_OLD' } },
    ],
    [
      'old values of a condition that fails',
      {
        access: 'write',
        method: 'put',
        input: {
          item,
          conditionExpression: 'attribute_not_exists(at)',
          returnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      },
    ],
    [
      'them in a transaction',
      {
        access: 'write',
        method: 'transactWrite',
        input: {
          actions: [
            {
              conditionCheck: {
                key,
                conditionExpression: 'attribute_not_exists(at)',
                returnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
          ],
        },
      },
    ],
    ...CONDITIONS_ON_VALUES,
    [
      'an object, having read',
      { kind: 'bucket', access: 'read', method: 'putObject', input: { key: 'k', body: '' } },
    ],
    [
      'an upload, having read',
      { kind: 'bucket', access: 'read', method: 'presignPutObject', input: { key: 'k' } },
    ],
    ['a list, having write', { kind: 'bucket', access: 'write', method: 'listObjects', input: {} }],
    [
      'a download, having write',
      { kind: 'bucket', access: 'write', method: 'presignGetObject', input: { key: 'k' } },
    ],
  ])('is refused: %s', async (_what, { method, input, ...about }) => {
    const { caught } = await ask(method, input, about)
    expect(caught).toMatchObject({
      isError: true,
      name: 'Forbidden',
      code: 'Forbidden',
      statusCode: 403,
    })
    expect(caught.message).toMatch(/"resourceId":"res_\w+","access":"\w+"/)
  })

  test('is allowed in its other half', async () => {
    expect(await ask('put', { item }, { access: 'write' })).toEqual({ ok: true })
    expect(await ask('get', { key }, { access: 'read' })).toEqual({ item })
    const { caught } = await ask(
      'put',
      {
        item,
        conditionExpression: 'attribute_not_exists(#at)',
        expressionAttributeNames: { '#at': 'at' },
      },
      { access: 'write' },
    )
    expect(caught).toMatchObject({ code: 'ConditionalCheckFailed' })
  })

  test('is the same whether it is there or not, except for the words', async () => {
    const there = await ask('get', { key: { id: '1' } }, { name: 'onlyOne' })
    const elsewhere = await ask('get', { key: { id: '1' } }, { name: 'onlyTwo' })
    const nowhere = await ask('get', { key: { id: '1' } }, { name: 'nowhere' })
    for (const { caught } of [there, elsewhere, nowhere]) {
      expect(caught).toMatchObject({ code: 'Forbidden', statusCode: 403 })
    }
    expect(there.caught.message).toMatch(
      /^Function "desk-readWrite" has no access to table "onlyOne": add \{"resourceId":"res_/,
    )
    // The other site has a table of that name: nothing here knows of it.
    expect(elsewhere.caught.message.replace('onlyTwo', 'nowhere')).toBe(nowhere.caught.message)
    expect(nowhere.caught.message).toContain('the site has none of that name')
  })

  test('is a bucket and no table', async () => {
    expect((await ask('get', { key }, { name: 'files' })).caught).toMatchObject({
      code: 'Forbidden',
    })
    expect((await ask('get', { key }, { access: 'none' })).caught).toMatchObject({
      code: 'Forbidden',
    })
  })
})

describe('a grant that is taken away', () => {
  test('holds for the call that began with it, and for no later one', async () => {
    const code = `
      export default async ({ payload }, { table }) => {
        const notes = table('notes')
        const at = (n) => ({ owner: 'grant', at: n })
        if (payload === 'again') return notes.get({ key: at(1) }).then(() => 'read', ({ code }) => code)
        await notes.put({ item: at(1) })
        while (!(await notes.get({ key: at(2) })).item) await new Promise((go) => setTimeout(go, 20))
        return 'held'
      }`
    const site = await siteWith(code)
    const { json } = await site.admin('GET', '/resources')
    const idOf = (wanted: string) =>
      json.resources.find(({ name }: { name: string }) => name === wanted).resourceId
    const ddb = (action: string, input: object) =>
      site.admin('POST', `/resources/${idOf('notes')}/data/ddb/${action}`, input)
    const running = site.call('own')
    await expect
      .poll(async () => (await ddb('get', { key: { owner: 'grant', at: 1 } })).json.item)
      .not.toBeNull()
    const config = { code, resources: [] }
    const changed = await site.admin('PATCH', `/resources/${idOf(`own-${counter - 1}`)}`, {
      config,
    })
    expect(changed.status, changed.text).toBe(200)
    await site.synced()
    expect((await site.call('own', 'again')).json.data).toBe('Forbidden')
    await ddb('put', { item: { owner: 'grant', at: 2 } })
    expect((await running).json.data).toBe('held')
  })
})

describe('a refusal', () => {
  test('has a name, a code, a status and details', async () => {
    const item = { owner: 'cond', at: 1, text: 'old' }
    await ask('put', { item })
    const refused = await ask('put', {
      item,
      conditionExpression: 'attribute_not_exists(#at)',
      expressionAttributeNames: { '#at': 'at' },
      returnValuesOnConditionCheckFailure: 'ALL_OLD',
    })
    expect(refused.caught).toEqual({
      isError: true,
      name: 'ConditionalCheckFailed',
      code: 'ConditionalCheckFailed',
      statusCode: 409,
      message: 'The conditional request failed',
      item,
    })
    const wrong = await ask('get', { key: 1 })
    expect(wrong.caught).toMatchObject({
      code: 'ValidationError',
      statusCode: 400,
      details: [{ field: expect.any(String), message: expect.any(String) }],
    })
  })

  test('that is not caught is the fault of the function, and only its log says why', async () => {
    const site = await siteWith(
      `export default (input, { table }) => table('notes').put({ item: { owner: 'cond', at: 1 }, conditionExpression: 'attribute_exists(nothing)' })`,
    )
    const answer = await site.call('own')
    expect(answer).toMatchObject({ status: 500, json: { error: { code: 'OperationFailed' } } })
    expect(answer.text).not.toContain('conditional')
    const logs = await site.admin('GET', '/logs?operation=own&level=error')
    expect(logs.text).toContain('ConditionalCheckFailed: The conditional request failed')
    expect(logs.text).toContain('index.ts:1')
  })

  test('reaches the caller when the function means it to', async () => {
    const site = await siteWith(`
      export default async (input, { table }) => {
        try { await table('notes').put({ item: { owner: 'cond', at: 1 }, conditionExpression: 'attribute_exists(nothing)' }) }
        catch (error) {
          if (error.code === 'ConditionalCheckFailed') throw { statusCode: 409, code: 'NoteChanged', message: 'Another write was faster' }
          throw error
        }
      }`)
    expect(await site.call('own')).toMatchObject({
      status: 409,
      json: { error: { code: 'NoteChanged', message: 'Another write was faster' } },
    })
  })
})
