import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** Answers each run differently, whichever isolate it is given to. */
const RUN = 'export default () => crypto.randomUUID()'

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const cached = (operation: string, code = RUN, rest: object = {}) =>
  site.publish(operation, code, { cache: { ttlSeconds: 60 }, ...rest })

describe('a kept answer', () => {
  test('is given again, and says so', async () => {
    await cached('kept')
    const first = await site.call('kept', { a: 1, b: 2 })
    expect(first.headers).toMatchObject({ 'x-cache': 'MISS' })
    expect(first.headers).not.toHaveProperty('age')
    const again = await site.call('kept', { a: 1, b: 2 })
    expect(again.headers).toMatchObject({ 'x-cache': 'HIT', age: expect.stringMatching(/^\d+$/) })
    expect(again.text).toBe(first.text)
  })

  test('is found by any text that means the same payload', async () => {
    await cached('same')
    const first = await site.send('/data/public/same', '{"payload":{"a":1,"b":[2]}}')
    const other = await site.send('/data/public/same', ' { "payload": {"b":[2.0], "a":1} } ')
    expect(other.headers['x-cache']).toBe('HIT')
    expect(other.text).toBe(first.text)
    const different = await site.send('/data/public/same', '{"payload":{"a":1,"b":[3]}}')
    expect(different.headers['x-cache']).toBe('MISS')
  })

  test('is not that to a body of more than 1 MiB', async () => {
    await cached('long')
    const text = 'x'.repeat(1024 * 1024)
    const answers = [await site.call('long', text), await site.call('long', text)]
    for (const { json, headers } of answers) {
      expect(json).toEqual({ ok: true, data: expect.any(String) })
      expect(headers).not.toHaveProperty('x-cache')
    }
    expect(answers[1]?.text).not.toBe(answers[0]?.text)
  })

  test('runs once for many who ask at once', async () => {
    await cached(
      'flight',
      'export default () => new Promise((go) => setTimeout(() => go(crypto.randomUUID()), 100))',
    )
    const answers = await Promise.all(Array.from({ length: 30 }, () => site.call('flight')))
    expect(answers[0]?.json).toEqual({ ok: true, data: expect.any(String) })
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('is never a failure', async () => {
    const { json } = await site.admin('POST', '/resources', {
      type: 'ddbTable',
      name: 'runs',
      config: { partitionKey: { name: 'of', type: 'S' } },
    })
    const resources = [{ resourceId: json.resourceId, access: 'readWrite' }]
    // The table counts the runs, whichever isolate they are given to.
    const code = `export default async (_event, { table }) => {
      const { item } = await table('runs').get({ key: { of: 'moody' } })
      const runs = (item?.runs ?? 0) + 1
      await table('runs').put({ item: { of: 'moody', runs } })
      if (runs === 1) throw new Error('once')
      return runs
    }`
    const lambdaResourceId = await site.putFunction('moody', code, { resources })
    const auth = { mode: 'public' }
    await site.putOperation('moody', { lambdaResourceId, auth, cache: { ttlSeconds: 60 } })
    await site.synced()
    expect((await site.call('moody')).status).toBe(500)
    const second = await site.call('moody')
    expect(second).toMatchObject({ status: 200, json: { data: 2 } })
    expect(second.headers['x-cache']).toBe('MISS')
    expect((await site.call('moody')).headers['x-cache']).toBe('HIT')
  })

  test('belongs to one caller with the groups it has', async () => {
    await cached('mine', 'export default ({ auth }) => auth', { auth: { mode: 'authenticated' } })
    const [ann, bob] = [
      await stack.dataToken('one.test', { user: 'ann@one.test' }),
      await stack.dataToken('one.test', { user: 'bob@one.test' }),
    ]
    const first = await site.callAs(ann, 'mine')
    const other = await site.callAs(bob, 'mine')
    expect(other.headers['x-cache']).toBe('MISS')
    expect(other.json.data.sub).not.toBe(first.json.data.sub)
    expect((await site.callAs(ann, 'mine')).headers['x-cache']).toBe('HIT')
    const promoted = await stack.dataToken('one.test', { user: 'ann@one.test', groups: ['staff'] })
    expect((await site.callAs(promoted, 'mine')).json.data.groups).toEqual(['staff'])
  })

  test('of a public operation never shows who asked by token', async () => {
    await cached('both', 'export default ({ auth }) => auth')
    const token = await stack.dataToken('one.test')
    expect((await site.callAs(token, 'both')).json.data).not.toBeNull()
    expect((await site.call('both')).json.data).toBeNull()
  })

  test('is dropped by the invalidate route, which counts the live ones', async () => {
    await cached('dropped')
    await site.call('dropped', 1)
    await site.call('dropped', 2)
    await site.call('dropped', 2)
    const dropped = await site.admin('POST', '/operations/dropped')
    expect(dropped.json).toEqual({ ok: true, invalidatedCount: 2 })
    expect((await site.call('dropped', 1)).headers['x-cache']).toBe('MISS')
    expect((await site.admin('POST', '/operations/dropped')).json.invalidatedCount).toBe(1)
    expect((await site.admin('POST', '/operations/dropped')).json.invalidatedCount).toBe(0)
  })

  test('is dropped when its operation is overwritten', async () => {
    const functionId = await cached('renewed')
    await site.call('renewed')
    expect((await site.call('renewed')).headers['x-cache']).toBe('HIT')
    await site.admin('PATCH', `/resources/${functionId}`, {
      config: { code: 'export default () => "new"' },
    })
    await site.putOperation('renewed', {
      lambdaResourceId: functionId,
      auth: { mode: 'public' },
      cache: { ttlSeconds: 60 },
    })
    await site.synced()
    await expect
      .poll(async () => (await site.call('renewed')).json.data, { timeout: 30_000 })
      .toBe('new')
  })

  test('ends with its time', async () => {
    await cached('brief', RUN, { cache: { ttlSeconds: 1 } })
    const first = await site.call('brief')
    expect(first.headers['x-cache']).toBe('MISS')
    await expect
      .poll(async () => (await site.call('brief')).text, { timeout: 30_000 })
      .not.toBe(first.text)
  })

  test('is dropped on every replica', async () => {
    await using beside = await startStack({ beside: stack })
    const there = await RuntimeSite.open(beside, 'one.test')
    await cached('spread')
    await expect.poll(async () => (await there.call('spread')).status).toBe(200)
    expect((await there.call('spread')).headers['x-cache']).toBe('HIT')
    await site.admin('POST', '/operations/spread')
    await expect
      .poll(async () => (await there.call('spread')).headers['x-cache'], { interval: 5 })
      .toBe('MISS')
  })
})
