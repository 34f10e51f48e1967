import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const KEY = { partitionKey: { name: 'topic', type: 'S' }, sortKey: { name: 'at', type: 'N' } }

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

describe.each(['one.test', 'two.test'])('a preset of %s that names its resource alone', (host) => {
  let site: RuntimeSite
  beforeAll(async () => {
    site = await RuntimeSite.open(stack, host)
    const body = { type: 'ddbTable', name: 'notes', config: KEY }
    const { resourceId } = (await site.admin('POST', '/resources', body)).json
    for (const action of ['query', 'update', 'put']) {
      await site.putOperation(action, {
        preset: { preset: `ddb.${action}`, resourceId },
        auth: { mode: 'public' },
      })
    }
    await site.synced()
    for (const at of [1, 2, 3]) {
      const put = await site.call('put', { item: { topic: host, at, n: at * 10 } })
      if (put.status !== 200) throw new Error(put.text)
    }
  })

  const values = { ':t': host, ':n': 10 }

  test('takes a query as the action does, in either spelling', async () => {
    const asked = {
      keyConditionExpression: 'topic = :t',
      filterExpression: '#n > :n',
      projectionExpression: '#at',
      expressionAttributeNames: { '#n': 'n', '#at': 'at' },
      expressionAttributeValues: values,
      scanIndexForward: false,
      limit: 2,
    }
    const answer = await site.call('query', asked)
    expect(answer).toMatchObject({
      status: 200,
      json: { data: { items: [{ at: 3 }, { at: 2 }], count: 2, nextToken: expect.any(String) } },
    })
    const { nextToken } = answer.json.data
    const rest = await site.call('query', { ...asked, nextToken })
    expect(rest.json.data).toMatchObject({ items: [], scannedCount: 1 })
    const pascal = Object.fromEntries(
      Object.entries(asked).map(([name, value]) => [
        name.charAt(0).toUpperCase() + name.slice(1),
        value,
      ]),
    )
    expect((await site.call('query', pascal)).json.data.items).toEqual([{ at: 3 }, { at: 2 }])
  })

  test('takes an update as the action does', async () => {
    const asked = {
      key: { topic: host, at: 9 },
      updateExpression: 'SET #n = :n',
      conditionExpression: 'attribute_not_exists(topic)',
      expressionAttributeNames: { '#n': 'n' },
      expressionAttributeValues: { ':n': 90 },
      returnValues: 'ALL_NEW',
    }
    expect(await site.call('update', asked)).toMatchObject({
      status: 200,
      json: { data: { attributes: { topic: host, at: 9, n: 90 } } },
    })
    expect(await site.call('update', asked)).toMatchObject({
      status: 409,
      json: { error: { code: 'ConditionalCheckFailed' } },
    })
  })

  test.each([
    ['query', {}, 'keyConditionExpression'],
    [
      'query',
      { keyConditionExpression: 'topic = :t', expressionAttributeValues: values, item: 1 },
      'item',
    ],
    ['update', { updateExpression: 'SET n = :n' }, 'key'],
  ])('refuses a %s of %o', async (name, payload, field) => {
    const { status, json } = await site.call(name, payload)
    expect([status, json.error.message]).toEqual([400, expect.stringContaining(field)])
  })
})
