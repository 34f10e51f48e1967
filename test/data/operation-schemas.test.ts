import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let site: RuntimeSite
let other: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  other = await RuntimeSite.open(stack, 'two.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const ECHO = 'export default ({ payload }) => payload'
const ORDER = {
  type: 'object',
  required: ['name', 'lines'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 40 },
    lines: { type: 'array', maxItems: 3, items: { $ref: '#/$defs/line' } },
  },
  $defs: {
    line: {
      type: 'object',
      required: ['count'],
      properties: { count: { type: 'integer', minimum: 1 } },
    },
  },
}
const GOOD = { name: 'Ada', lines: [{ count: 2 }] }

const faultsOf = (answer: Awaited<ReturnType<RuntimeSite['call']>>): [string, string][] =>
  answer.json.error.details.map((detail: { field: string; message: string }) => [
    detail.field,
    detail.message,
  ])

const refusal = { status: 400, json: { ok: false, error: { code: 'InvalidPayload' } } }

describe('a payload', () => {
  test('reaches the function only when it is as the schema says', async () => {
    await site.publish(
      'order',
      'let calls = 0\nexport default ({ payload }) => ({ calls: ++calls, payload })',
      { input: ORDER },
    )
    expect((await site.call('order', GOOD)).json.data).toEqual({ calls: 1, payload: GOOD })
    const answer = await site.call('order', { name: '', lines: [{ count: 0.5 }, {}], more: 'x' })
    expect(answer).toMatchObject(refusal)
    expect(faultsOf(answer)).toEqual([
      ['/payload/name', 'must have at least 1 character'],
      ['/payload/lines/0/count', 'must be a whole number'],
      ['/payload/lines/1', 'must have the property "count"'],
      ['/payload/more', 'is not allowed here'],
    ])
    expect(faultsOf(await site.call('order'))).toEqual([['/payload', 'must be an object']])
    // None of them has run.
    expect((await site.call('order', GOOD)).json.data.calls).toBe(2)
  })

  test('is named by at most 20 places, whatever keys it has', async () => {
    await site.publish('flat', ECHO, {
      input: { type: 'object', additionalProperties: { type: 'string' } },
    })
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`a/~${at}`, at]))
    const faults = faultsOf(await site.call('flat', many))
    expect(faults).toHaveLength(20)
    expect(faults[0]).toEqual(['/payload/a~1~00', 'must be a string'])
    const [long] = faultsOf(await site.call('flat', { ['x'.repeat(100_000)]: 1 }))
    expect(long?.[0].length).toBeLessThanOrEqual(300)
    expect(await site.send('/data/public/flat', '{"payload":{"__proto__":1}}')).toMatchObject(
      refusal,
    )
  })

  test('may be as deep as any, against a schema that leads to itself', async () => {
    await site.publish('tree', 'export default () => 1', {
      input: { type: 'array', items: { $ref: '#' } },
    })
    const nested = (depth: number, core: string) =>
      `{"payload":${'['.repeat(depth)}${core}${']'.repeat(depth)}}`
    expect(await site.send('/data/public/tree', nested(127, ''))).toMatchObject({ status: 200 })
    const wrong = await site.send('/data/public/tree', nested(127, '1'))
    expect(wrong).toMatchObject(refusal)
    expect(faultsOf(wrong)[0]?.[0]).toMatch(/^\/payload(\/0)+$/)
    expect(await site.send('/data/public/tree', nested(128, ''))).toMatchObject({
      status: 400,
      json: { error: { code: 'ValidationError' } },
    })
  })

  test('of a preset is checked before anything is read or written', async () => {
    const table = await site.admin('POST', '/resources', {
      type: 'ddbTable',
      name: 'notes',
      config: { partitionKey: { name: 'id', type: 'S' } },
    })
    const { resourceId } = table.json
    const item = {
      type: 'object',
      required: ['item'],
      properties: {
        item: { type: 'object', required: ['id', 'text'], properties: { text: { maxLength: 5 } } },
      },
    }
    await site.putOperation('addNote', {
      preset: { preset: 'ddb.put', resourceId },
      auth: { mode: 'public' },
      input: item,
    })
    await site.synced()
    const long = await site.call('addNote', { item: { id: 'a', text: 'longer' } })
    expect(long).toMatchObject(refusal)
    expect(faultsOf(long)).toEqual([['/payload/item/text', 'must have at most 5 characters']])
    const got = await site.admin('POST', `/resources/${resourceId}/data/ddb/get`, {
      key: { id: 'a' },
    })
    expect(got.json.item).toBeNull()
    expect(await site.call('addNote', { item: { id: 'a', text: 'short' } })).toMatchObject({
      status: 200,
    })
  })

  test('is checked for each kept answer once, and again when the schema changes', async () => {
    const binding = {
      lambdaResourceId: await site.putFunction('kept', ECHO),
      auth: { mode: 'public' },
      cache: { ttlSeconds: 60 },
    }
    await site.putOperation('kept', { ...binding, input: { type: 'string' } })
    await site.synced()
    expect(await site.call('kept', 'a')).toMatchObject({
      status: 200,
      headers: { 'x-cache': 'MISS' },
    })
    expect(await site.call('kept', 'a')).toMatchObject({
      status: 200,
      headers: { 'x-cache': 'HIT' },
    })
    expect(await site.call('kept', 1)).toMatchObject(refusal)
    expect(await site.call('kept', 1)).toMatchObject(refusal)
    await site.putOperation('kept', { ...binding, input: { type: 'string', minLength: 2 } })
    await site.synced()
    expect(await site.call('kept', 'a')).toMatchObject(refusal)
  })

  test('that a function or a job hands on is checked as well', async () => {
    await site.publish('inner', ECHO, { input: { type: 'integer' } })
    await site.publish(
      'outer',
      `export default async ({ payload }, ctx) => {
        try { return await ctx.operation('inner', payload) }
        catch ({ code, statusCode, details }) { return { code, statusCode, details } }
      }`,
    )
    expect((await site.call('outer', 7)).json.data).toBe(7)
    expect((await site.call('outer', 'x')).json.data).toMatchObject({
      code: 'InvalidPayload',
      statusCode: 400,
    })
    await site.admin('PUT', '/jobs/nightly', { operation: 'inner', payload: { no: 1 } })
    await site.admin('POST', '/jobs/nightly', {})
    await expect
      .poll(async () => (await site.admin('GET', '/jobs/nightly/runs')).json.items[0])
      .toMatchObject({ status: 'failed', error: { code: 'InvalidPayload' } })
  })
})

describe('a result', () => {
  test('that is not as the schema says is a 502, and the places are in the log', async () => {
    await site.publish('total', 'export default ({ payload }) => ({ total: payload })', {
      output: { type: 'object', properties: { total: { type: 'number' } } },
    })
    expect((await site.call('total', 3)).json.data).toEqual({ total: 3 })
    const answer = await site.call('total', 'private')
    expect(answer).toMatchObject({
      status: 502,
      json: { ok: false, error: { code: 'InvalidOperationResult' } },
    })
    expect(answer.text).not.toMatch(/private|total must/)
    await expect
      .poll(async () => (await site.admin('GET', '/logs?operation=total')).text)
      .toContain('/data/total must be a number')
    expect((await site.admin('GET', '/logs?operation=total')).text).not.toContain('private')
  })

  test('is checked as it goes out, of an async function and of fetch', async () => {
    const output = { type: 'object', required: ['a'] }
    await site.publish('later', 'export default async () => ({ toJSON: () => ({ b: 1 }) })', {
      output,
    })
    await site.publish('fetched', 'export default { fetch: () => Response.json({ b: 1 }) }', {
      output,
    })
    for (const name of ['later', 'fetched'])
      expect(await site.call(name)).toMatchObject({
        status: 502,
        json: { error: { code: 'InvalidOperationResult' } },
      })
  })
})

describe('a schema', () => {
  const nest = (depth: number): object => (depth === 0 ? {} : { items: nest(depth - 1) })
  const sized = (bytes: number) => ({ description: 'x'.repeat(bytes - 18) })
  const many = (count: number) => ({ anyOf: Array.from({ length: count - 1 }, () => true) })
  const chain = (length: number) => ({
    $ref: '#/$defs/s1',
    $defs: Object.fromEntries(
      Array.from({ length: length - 1 }, (_, at) => [
        `s${at + 1}`,
        at === length - 2 ? {} : { $ref: `#/$defs/s${at + 2}` },
      ]),
    ),
  })
  const put = async (rest: object) =>
    site.admin('POST', '/operations', { operation: 'bounded', preset: { preset: 'echo' }, ...rest })

  test.each([
    ['32 KiB', sized(32 * 1024), sized(32 * 1024 + 1)],
    ['32 schemas deep', nest(32), nest(33)],
    ['500 schemas', many(500), many(501)],
    ['64 schemas in a row', chain(64), chain(65)],
    ['a pattern of 256', { pattern: 'x'.repeat(256) }, { pattern: 'x'.repeat(257) }],
  ])('has a bound: %s', async (_what, within, beyond) => {
    expect(await put({ input: within })).toMatchObject({ status: 200, json: { input: within } })
    const answer = await put({ input: beyond })
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(answer.json.error.details[0].field).toMatch(/^input/)
  })

  test.each([
    ['an unknown keyword', { properties: { a: { requird: ['b'] } } }, 'input/properties/a/requird'],
    [
      'a keyword of other dialects',
      { unevaluatedProperties: false },
      'input/unevaluatedProperties',
    ],
    ['a reference elsewhere', { $ref: 'https://one.test/s.json' }, 'input/$ref'],
    ['a reference to nothing', { items: { $ref: '#/$defs/a' } }, 'input/items/$ref'],
    ['a circle', { $defs: { a: { not: { $ref: '#/$defs/a' } } } }, 'input/$defs/a'],
    ['an unknown format', { format: 'iban' }, 'input/format'],
    ['a broken pattern', { pattern: '(' }, 'input/pattern'],
    ['a bound that is none', { minLength: -1 }, 'input/minLength'],
    ['a keyword without its partner', { minContains: 1 }, 'input/minContains'],
    ['no schema', 'string', 'input'],
  ])('with %s is refused at its place', async (_what, input, field) => {
    const answer = await put({ input })
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(answer.json.error.details).toMatchObject([{ field }])
  })

  test('is refused where it would not be checked', async () => {
    const lambdaResourceId = await site.putFunction('plain', ECHO)
    const http = { lambdaResourceId, preset: undefined, http: true, input: {} }
    expect((await put(http)).json.error.details).toMatchObject([{ field: 'input' }])
    expect((await put({ output: {} })).json.error.details).toMatchObject([{ field: 'output' }])
  })

  test('has a total for the operations of a site', async () => {
    const big = sized(32 * 1024)
    for (let at = 0; at < 31; at += 1)
      await other.putOperation(`big${at}`, { preset: { preset: 'echo' }, input: big })
    const last = { operation: 'last', preset: { preset: 'echo' }, input: big }
    expect(
      await other.admin('POST', '/operations', { ...last, input: sized(30 * 1024) }),
    ).toMatchObject({ status: 200 })
    expect(await other.admin('POST', '/operations', last)).toMatchObject({
      status: 400,
      json: { error: { details: [{ field: 'input' }] } },
    })
    // One that is replaced counts as it is then.
    await other.putOperation('big0', { preset: { preset: 'echo' }, input: big })
  })
})

describe('beside others', () => {
  test('a pattern that backtracks without end costs its own site the call', async () => {
    await site.publish('slow', ECHO, { input: { pattern: '^(a|a)*$' } })
    await other.publish('quick', ECHO, { input: { type: 'string', pattern: '^a+$' } })
    const slow = site.call('slow', `${'a'.repeat(60)}b`)
    const beside = await Promise.all(Array.from({ length: 20 }, () => other.call('quick', 'aaa')))
    expect(beside.map(({ status }) => status)).toEqual(beside.map(() => 200))
    expect(await slow).toMatchObject({
      status: 504,
      json: { error: { code: 'OperationTimeout', limit: { name: 'cpuMs' } } },
    })
    expect(await site.call('slow', 'aaa')).toMatchObject({ status: 200 })
  })

  test('a process that starts later checks the same', async () => {
    await site.publish('lasting', ECHO, { input: { type: 'string' }, output: { maxLength: 3 } })
    await using later = await startStack({ beside: stack })
    const there = await RuntimeSite.open(later, 'one.test')
    expect(await there.call('lasting', 1)).toMatchObject(refusal)
    expect(await there.call('lasting', 'abcd')).toMatchObject({ status: 502 })
    expect(await there.call('lasting', 'abc')).toMatchObject({ status: 200 })
  })

  test('code that replaces built-ins changes no check, of its own site or another', async () => {
    const hostile = `
      for (const proto of [Array, Object, String, RegExp, Map, Set, Number].map((c) => c.prototype))
        for (const name of Object.getOwnPropertyNames(proto)) {
          if (name === 'constructor') continue
          try { Object.defineProperty(proto, name, { value: () => true, configurable: true }) } catch {}
        }
      for (const name of ['hasOwn', 'keys', 'entries', 'is'])
        try { Object.defineProperty(Object, name, { value: () => [] }) } catch {}
      try { Object.defineProperty(Array.prototype, '0', { set() {}, get: () => 1, configurable: true }) } catch {}
      try { Object.prototype.type = 1; Object.prototype.toJSON = () => 1 } catch {}
      Array.isArray = () => false
      Number.isInteger = () => true
      JSON.parse = () => ({ name: 'Ada', lines: [] })
      JSON.stringify = () => '{}'
      globalThis.Set = globalThis.Map = globalThis.RegExp = class {}
      export default () => 'ran'`
    const input = {
      ...ORDER,
      properties: {
        ...ORDER.properties,
        tags: {
          uniqueItems: true,
          items: { type: 'string', pattern: '^[a-z]+$', format: 'email' },
        },
        kind: { enum: ['a', { b: 1 }] },
      },
    }
    await site.publish('hostile', hostile, { input })
    await other.publish('calm', ECHO, { input })
    // The first call loads the code, the second finds everything replaced.
    for (let round = 0; round < 2; round += 1) {
      const wrong = {
        name: 'x'.repeat(41),
        lines: [{ count: 0 }],
        tags: ['A', 'A'],
        kind: { b: 2 },
        more: 1,
      }
      const [own, others] = await Promise.all([
        site.call('hostile', wrong),
        other.call('calm', wrong),
      ])
      expect(own).toMatchObject(refusal)
      expect(faultsOf(own)).toEqual(faultsOf(others))
      expect(faultsOf(others).map(([place]) => place)).toEqual([
        '/payload/name',
        '/payload/lines/0/count',
        '/payload/tags/0',
        '/payload/tags/1',
        '/payload/tags/1',
        '/payload/kind',
        '/payload/more',
      ])
      expect(await site.call('hostile', GOOD)).toMatchObject({ status: 200 })
    }
  })
})
