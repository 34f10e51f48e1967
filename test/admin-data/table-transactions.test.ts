import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { SiteTable } from '#test/site-table.ts'
import { type Stack, startStack } from '#test/stack.ts'

const BY_ID = { partitionKey: { name: 'id', type: 'S' } }

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at))

const pay = (from: string, to: string, amount: number) => ({
  actions: [
    {
      update: {
        key: { id: from },
        updateExpression: 'SET balance = balance - :a',
        conditionExpression: 'balance >= :a',
        expressionAttributeValues: { ':a': amount },
      },
    },
    {
      update: {
        key: { id: to },
        updateExpression: 'SET balance = balance + :a',
        expressionAttributeValues: { ':a': amount },
      },
    },
  ],
})

describe('a transaction', () => {
  test('does nothing when one of its actions cannot be done, and says which and why', async () => {
    const table = await SiteTable.create(site, 'cancelled', BY_ID)
    await table.do('put', { item: { id: 'a', n: 1, word: 'x' } })
    const cancelled = await table.fail('transact-write', {
      actions: [
        { put: { item: { id: 'new' } } },
        {
          conditionCheck: {
            key: { id: 'a' },
            conditionExpression: 'n = :two',
            expressionAttributeValues: { ':two': 2 },
            returnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
        {
          update: {
            key: { id: 'b' },
            updateExpression: 'SET n = nowhere + :one',
            expressionAttributeValues: { ':one': 1 },
          },
        },
      ],
    })
    expect(cancelled).toMatchObject({
      status: 409,
      code: 'TransactionCanceled',
      message:
        'Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ValidationError]',
      reasons: [
        { code: 'None' },
        {
          code: 'ConditionalCheckFailed',
          message: 'The conditional request failed',
          item: { id: 'a', n: 1, word: 'x' },
        },
        {
          code: 'ValidationError',
          message: 'The provided expression refers to an attribute that does not exist in the item',
        },
      ],
    })
    const keyless = await table.fail('transact-write', {
      actions: [{ put: { item: { id: 'new' } } }, { put: { item: { no: 'key' } } }],
    })
    expect(keyless).toMatchObject({
      code: 'TransactionCanceled',
      reasons: [{ code: 'None' }, { code: 'ValidationError' }],
    })
    const twice = await table.fail('transact-write', {
      actions: [
        { put: { item: { id: 'new' } } },
        { delete: { key: { id: 1 } } },
        { delete: { key: {} } },
      ],
    })
    expect(twice).toMatchObject({
      reasons: [{ code: 'None' }, { code: 'ValidationError' }, { code: 'None' }],
    })
    expect((await table.do('scan')).items).toEqual([{ id: 'a', n: 1, word: 'x' }])
  })

  test('brings 4 MB at most, whatever is there already', async () => {
    const table = await SiteTable.create(site, 'weighty', BY_ID)
    const heavy = times(11, (at) => ({ id: `h${at}`, t: 'x'.repeat(400_000) }))
    for (const item of heavy) await table.do('put', { item })
    expect(
      await table.fail('transact-write', {
        actions: heavy.map(({ id, t }) => ({
          update: {
            key: { id },
            updateExpression: 'SET t = :t',
            expressionAttributeValues: { ':t': t },
          },
        })),
      }),
    ).toMatchObject({ status: 400, message: expect.stringContaining('4 MB') })
    await table.do('transact-write', {
      actions: heavy.map(({ id }) => ({ delete: { key: { id } } })),
    })
    expect((await table.do('scan')).items).toEqual([])
  })

  test('makes no item to take something away from', async () => {
    const table = await SiteTable.create(site, 'removals', BY_ID)
    const remove = (id: string) => ({ update: { key: { id }, updateExpression: 'REMOVE a' } })
    await table.do('put', { item: { id: 'there', a: 1 } })
    await table.do('transact-write', { actions: [remove('there'), remove('nowhere')] })
    expect((await table.do('scan')).items).toEqual([{ id: 'there' }])
  })

  test('raced by others on the same items loses nothing and makes nothing', async () => {
    const table = await SiteTable.create(site, 'accounts', BY_ID)
    await using beside = await startStack({ beside: stack })
    const there = table.seenBy(await RuntimeSite.open(beside, 'one.test'))
    const names = ['a', 'b', 'c']
    await table.do('batch-write', { puts: names.map((id) => ({ id, balance: 100 })) })
    const answers = await Promise.all(
      times(60, (at) => {
        // Each pair is locked in both directions, so that unordered locks would meet.
        const [from = '', to = ''] = [names[at % 3], names[(at + 1 + (at % 2)) % 3]]
        return (at % 2 === 0 ? table : there).call('transact-write', pay(from, to, 7))
      }),
    )
    const outcomes = answers.map(({ status, json }) => (status === 200 ? 'done' : json.error.code))
    expect(new Set([...outcomes, 'done', 'TransactionCanceled']).size).toBe(2)
    expect(outcomes).toContain('done')
    const { items } = await table.do('scan')
    const balances = items.map(({ balance }: { balance: number }) => balance)
    expect(balances.reduce((sum: number, each: number) => sum + each, 0)).toBe(300)
    expect(Math.min(...balances)).toBeGreaterThanOrEqual(0)
  })

  test('that looks at what another makes keeps one of two from being written', async () => {
    const table = await SiteTable.create(site, 'skew', BY_ID)
    const unless = (mine: string, theirs: string) => ({
      actions: [
        { put: { item: { id: mine } } },
        {
          conditionCheck: { key: { id: theirs }, conditionExpression: 'attribute_not_exists(id)' },
        },
      ],
    })
    for (let round = 0; round < 25; round += 1) {
      const [left, right] = [`l${round}`, `r${round}`]
      const answers = await Promise.all([
        table.call('transact-write', unless(left, right)),
        table.call('transact-write', unless(right, left)),
      ])
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
    }
    expect((await table.do('scan', { select: 'COUNT' })).count).toBe(25)
  })

  test('raced by puts of the same missing item judges what is there when it writes', async () => {
    const table = await SiteTable.create(site, 'missing', BY_ID)
    for (let round = 0; round < 25; round += 1) {
      const id = `i${round}`
      const condition = { conditionExpression: 'attribute_not_exists(id)' }
      const answers = await Promise.all([
        table.call('transact-write', {
          actions: [
            { put: { item: { id, by: 'transaction' }, ...condition } },
            { put: { item: { id: `${id}-beside` } } },
          ],
        }),
        table.call('put', { item: { id, by: 'put' }, ...condition }),
      ])
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
      const { item } = await table.do('get', { key: { id } })
      expect(item.by).toBe(answers[0]?.status === 200 ? 'transaction' : 'put')
    }
  })

  test('with a token is done once, however often it is sent', async () => {
    const table = await SiteTable.create(site, 'once', BY_ID)
    await using beside = await startStack({ beside: stack })
    const there = table.seenBy(await RuntimeSite.open(beside, 'one.test'))
    const add = (amount: number, clientRequestToken: string) => ({
      clientRequestToken,
      actions: [
        {
          update: {
            key: { id: 'a' },
            updateExpression: 'ADD n :n',
            expressionAttributeValues: { ':n': amount },
          },
        },
      ],
    })
    const answers = await Promise.all(
      times(20, (at) => (at % 2 === 0 ? table : there).do('transact-write', add(5, 'token-1'))),
    )
    expect(answers).toEqual(times(20, () => ({ ok: true })))
    expect((await table.do('get', { key: { id: 'a' } })).item).toEqual({ id: 'a', n: 5 })
    expect(await table.fail('transact-write', add(6, 'token-1'))).toMatchObject({
      status: 422,
      code: 'IdempotencyKeyReused',
    })
    await table.do('transact-write', add(6, 'token-2'))
    expect((await table.do('get', { key: { id: 'a' } })).item.n).toBe(11)
    expect(await table.fail('transact-write', add(1, 'x'.repeat(37)))).toMatchObject({
      status: 400,
      message: expect.stringContaining('clientRequestToken'),
    })

    await using later = await startStack({
      beside: stack,
      platform: { clock: { now: () => new Date(Date.now() + 11 * 60_000) } },
    })
    const token = await stack.adminToken('one.test')
    const path = `/admin/data/resources/${table.resourceId}/data/ddb/transact-write`
    const again = await later.call('one.test', 'POST', path, { token, body: add(5, 'token-1') })
    expect(again.status).toBe(200)
    expect((await table.do('get', { key: { id: 'a' } })).item.n).toBe(16)
  })

  test('that was cancelled leaves its token free', async () => {
    const table = await SiteTable.create(site, 'token-free', BY_ID)
    const attempt = {
      clientRequestToken: 'again',
      actions: [
        { put: { item: { id: 'b' } } },
        { conditionCheck: { key: { id: 'a' }, conditionExpression: 'attribute_exists(id)' } },
      ],
    }
    expect(await table.fail('transact-write', attempt)).toMatchObject({ status: 409 })
    await table.do('put', { item: { id: 'a' } })
    expect(await table.do('transact-write', attempt)).toEqual({ ok: true })
  })
})

describe('a batch', () => {
  test('gives what fits into 16 MiB, and says which keys are left', async () => {
    const table = await SiteTable.create(site, 'heavy', BY_ID)
    const text = 'x'.repeat(399_000)
    for (let from = 0; from < 50; from += 10) {
      await table.do('batch-write', { puts: times(10, (at) => ({ id: `i${from + at}`, text })) })
    }
    const keys = times(50, (at) => ({ id: `i${at}` }))
    const first = await table.do('batch-get', { keys })
    expect(first.items.length).toBe(42)
    expect(first.unprocessedKeys).toEqual(keys.slice(42))
    const rest = await table.do('batch-get', { keys: first.unprocessedKeys })
    expect(rest).toMatchObject({ unprocessedKeys: [] })
    expect(rest.items.map(({ id }: { id: string }) => id)).toEqual(
      keys.slice(42).map(({ id }) => id),
    )
    const narrow = await table.do('batch-get', {
      keys: keys.slice(0, 3),
      projectionExpression: 'id',
    })
    expect(narrow.items).toEqual(keys.slice(0, 3))
  })

  test('writes all or nothing, and meets transactions without a deadlock', async () => {
    const table = await SiteTable.create(site, 'crowded', BY_ID)
    const ids = times(8, (at) => `i${at}`)
    const answers = await Promise.all(
      times(40, (at) => {
        const order = at % 2 === 0 ? ids : ids.toReversed()
        return at % 3 === 0
          ? table.call('transact-write', {
              actions: order.map((id) => ({
                update: {
                  key: { id },
                  updateExpression: 'SET w = :w',
                  expressionAttributeValues: { ':w': at },
                },
              })),
            })
          : table.call('batch-write', { puts: order.map((id) => ({ id, w: at })) })
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual(times(40, () => 200))
    const { items } = await table.do('scan')
    expect(new Set(items.map(({ w }: { w: number }) => w)).size).toBe(1)

    const refused = await table.fail('batch-write', { puts: [{ id: 'good' }, { bad: 'x' }] })
    expect(refused.status).toBe(400)
    expect(await table.do('get', { key: { id: 'good' } })).toEqual({ item: null })
  })
})
