import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const LONG = '0.12345678901234567890123456789012345678'
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

let stack: Stack
let site: RuntimeSite
let token: string
let tableId: string
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  token = await stack.adminToken('one.test')
  const config = { partitionKey: { name: 'id', type: 'N' } }
  const made = await site.admin('POST', '/resources', { type: 'ddbTable', name: 'numbers', config })
  tableId = made.json.resourceId
})
afterAll(() => stack[Symbol.asyncDispose]())

/** Sends JSON as it is written. */
const send = (method: string, path: string, body: string) =>
  stack.call('one.test', method, `/admin/data${path}`, { token, headers: JSON_TYPE, body })
const act = (action: string, body: string) =>
  send('POST', `/resources/${tableId}/data/ddb/${action}`, body)

describe('a JSON number in an item', () => {
  test.each([
    ['1e20', { $number: '100000000000000000000' }],
    [LONG, { $number: LONG }],
    [
      '12345678901234567890123456789012345678',
      { $number: '12345678901234567890123456789012345678' },
    ],
    ['9007199254740993', { $number: '9007199254740993' }],
    ['1e-130', 1e-130],
    ['9.99e125', { $number: `999${'0'.repeat(123)}` }],
    ['-0', 0],
    ['1.50', 1.5],
    ['{ "$number": "1e20" }', { $number: '100000000000000000000' }],
  ])('%s is kept with all of its digits', async (text, shown) => {
    expect(await act('put', `{"item":{"id":1,"n":${text},"s":{"$set":[${text}]}}}`)).toMatchObject({
      status: 200,
    })
    const { json } = await act('get', '{"key":{"id":1}}')
    expect(json.item).toEqual({ id: 1, n: shown, s: { $set: [shown] } })
    // What was read may be sent back.
    const again = await act('put', JSON.stringify({ item: json.item }))
    expect(again.status).toBe(200)
    expect((await act('get', '{"key":{"id":1}}')).json.item).toEqual(json.item)
  })

  test.each([
    ['1e126', 'Number overflow'],
    ['1e-131', 'Number underflow'],
    [`${LONG}9`, 'more than 38 significant digits'],
  ])('%s is refused in DynamoDB’s words', async (text, words) => {
    const { status, json } = await act('put', `{"item":{"id":1,"n":${text}}}`)
    expect(status).toBe(400)
    expect(json.error.message).toContain(words)
  })

  test('is exact as a key, in expressions, batches and transactions', async () => {
    await act('put', '{"item":{"id":1e20,"n":0}}')
    const update = `{"key":{"id":100000000000000000000},"updateExpression":"SET n = n + :v","expressionAttributeValues":{":v":${LONG}}}`
    expect((await act('update', update)).status).toBe(200)
    const found = await act(
      'query',
      `{"keyConditionExpression":"id = :id","filterExpression":"n = :v","expressionAttributeValues":{":id":1E+20,":v":${LONG}}}`,
    )
    expect(found.json.items).toEqual([
      { id: { $number: '100000000000000000000' }, n: { $number: LONG } },
    ])
    await act('batch-write', `{"puts":[{"id":2,"n":${LONG}}]}`)
    await act('transact-write', `{"actions":[{"put":{"item":{"id":3,"n":${LONG}}}}]}`)
    const { json } = await act('batch-get', '{"keys":[{"id":2},{"id":3}]}')
    expect(json.items.map(({ n }: { n: unknown }) => n)).toEqual([
      { $number: LONG },
      { $number: LONG },
    ])
  })

  test('stays a double in site code, and a log line says where it lost digits', async () => {
    const config = { resources: [{ resourceId: tableId, access: 'readWrite' }] }
    const code = `export default async ({ payload }, { table }) => {
      await table('numbers').put({ item: { id: 5, n: payload } })
      return (await table('numbers').get({ key: { id: 5 } })).item.n
    }`
    const lambdaResourceId = await site.putFunction('writer', code, config)
    await site.putOperation('write', { lambdaResourceId, auth: { mode: 'public' } })
    await site.synced()
    const write = async (payload: string) =>
      (await site.send('/data/public/write', `{"payload":${payload}}`)).json
    expect((await write('0.30000000000000004')).data).toBe(0.30000000000000004)
    expect((await write(`{"$number":"${LONG}"}`)).data).toEqual({ $number: LONG })
    expect((await write('9007199254740993')).ok).toBe(false)
  })
})

describe('a preset', () => {
  const bind = (operation: string, rest: string) =>
    send('POST', '/operations', `{"operation":"${operation}","auth":{"mode":"public"},${rest}}`)
  const call = (operation: string, payload: string) =>
    site.send(`/data/public/${operation}`, `{"payload":${payload}}`)

  test('keeps the digits of what is sent to it and of what it fixes', async () => {
    const fixed = `"preset":{"preset":"ddb.put","resourceId":"${tableId}","fixed":{"item":{"n":${LONG}}}}`
    expect((await bind('putFixed', fixed)).status).toBe(200)
    await bind('get', `"preset":{"preset":"ddb.get","resourceId":"${tableId}"}`)
    await site.synced()
    expect((await call('putFixed', `{"item":{"id":6,"m":1e21}}`)).json.ok).toBe(true)
    expect((await call('get', '{"key":{"id":6}}')).json.data.item).toEqual({
      id: 6,
      n: { $number: LONG },
      m: { $number: '1000000000000000000000' },
    })
  })

  test('has no cached answer for a number that only looks the same as a double', async () => {
    await bind(
      'cached',
      `"preset":{"preset":"ddb.get","resourceId":"${tableId}"},"cache":{"ttlSeconds":60}`,
    )
    await site.synced()
    await act('put', '{"item":{"id":9007199254740993,"of":"this"}}')
    const [this_, other] = [
      await call('cached', '{"key":{"id":9007199254740993}}'),
      await call('cached', '{"key":{"id":9007199254740992}}'),
    ]
    expect(this_.json.data.item.of).toBe('this')
    expect(other.json.data.item).toBeNull()
  })

  test('of a definition keeps the digits of what it fixes', async () => {
    const definition = `{"operations":[{"operation":"defined","auth":{"mode":"public"},"preset":"ddb.put","resource":"numbers","fixed":{"item":{"id":7,"n":${LONG}}}}]}`
    const { json } = await send('POST', '/iac/jobs', `{"mode":"apply","definition":${definition}}`)
    await expect
      .poll(async () => (await site.admin('GET', `/iac/jobs/${json.jobId}`)).json.status)
      .toBe('succeeded')
    await site.synced()
    expect((await call('defined', '{}')).json.ok).toBe(true)
    expect((await act('get', '{"key":{"id":7}}')).json.item.n).toEqual({ $number: LONG })
    const { text } = await site.admin('GET', '/iac/export')
    expect(text).toContain(`{"$number":"${LONG}"}`)
  })

  test('that echoes answers what was sent, as a double', async () => {
    await bind('echo', '"preset":{"preset":"echo"}')
    await site.synced()
    expect((await call('echo', '1e20')).json.data).toBe(1e20)
  })
})
