import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** Does what the payload names with the ctx it got, and tells how that ended. */
const HOSTILE = `
let kept
const cyclic = {}
cyclic.self = cyclic
const deep = (levels) => { let value = 1; for (let n = 0; n < levels; n++) value = [value]; return value }
const inputs = {
  cyclic: () => cyclic,
  getter: () => ({ get key() { throw new TypeError('a getter') } }),
  proxy: () => new Proxy({}, { ownKeys: () => { throw new RangeError('a proxy') } }),
  thenable: () => ({ key: { id: 'a' }, then: (go) => go('x') }),
  toJSON: () => ({ toJSON: () => '"},"action":"put","input":{"item":{"id":"z"}' }),
  function: () => () => 1,
  deep: () => ({ key: { id: deep(5000) } }),
  nested: () => ({ key: { id: deep(500) } }),
  wide: () => ({ key: { id: Array.from({ length: 120_000 }, () => 1) } }),
  prototype: () => JSON.parse('{"__proto__":{"key":{"id":"a"}}}'),
  polluted: () => { const { toString } = Object.prototype; Object.prototype.toString = { id: 'a' }; setTimeout(() => { Object.prototype.toString = toString }); return {} },
}
const runs = {
  table: (ctx, { name }) => ctx.table(name).get({ key: { id: 'a' } }),
  bucket: (ctx, { name }) => ctx.bucket(name).getObject({ key: 'a' }),
  input: (ctx, { name }) => ctx.table('notes').get(inputs[name]()),
  headers: () => fetch('http://nowhere.test/', { headers: Array.from({ length: 20_000 }, (_, n) => ['a' + n, '']) }),
  keep: (ctx) => { kept = ctx },
  use: () => kept.operation('whoami'),
}
export default async ({ payload }, ctx) => {
  try {
    return { got: await runs[payload.run](ctx, payload) }
  } catch ({ name, code, message }) {
    return { caught: code ?? name, message }
  }
}`

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  await furnish('two.test', { table: 'theirs', bucket: 'theirFiles' })
  site = await furnish('one.test', { table: 'notes', bucket: 'files' })
})
afterAll(() => stack[Symbol.asyncDispose]())

async function furnish(host: string, names: { table: string; bucket: string }) {
  const on = await RuntimeSite.open(stack, host)
  const make = async (type: string, name: string, config: object): Promise<string> =>
    (await on.admin('POST', '/resources', { type, name, config })).json.resourceId
  const table = await make('ddbTable', names.table, { partitionKey: { name: 'id', type: 'S' } })
  const bucket = await make('s3Bucket', names.bucket, {})
  const resources = [table, bucket].map((resourceId) => ({ resourceId, access: 'readWrite' }))
  const hostile = await on.putFunction('hostile', HOSTILE, { resources })
  await on.putOperation('hostile', { lambdaResourceId: hostile, auth: { mode: 'public' } })
  await on.putOperation('hostileMine', { lambdaResourceId: hostile })
  await on.publish('whoami', 'export default ({ auth }) => auth')
  return on
}

async function run(what: object) {
  const answer = await site.call('hostile', what)
  expect(answer.status, answer.text).toBe(200)
  return answer.json.data
}

describe('a function', () => {
  test.each([
    'theirs',
    'theirFiles',
    'two.test/theirs',
    '../two.test/theirs',
    'NOTES',
    'notes ',
    'notes\0',
    '__proto__',
    'constructor',
    'x'.repeat(100_000),
  ])('is granted no store by the name %.20j', async (name) => {
    for (const kind of ['table', 'bucket']) {
      const { caught, message } = await run({ run: kind, name })
      expect(caught).toBe('Forbidden')
      expect(message).toContain('the site has none of that name')
    }
  })

  test.each([
    ['cyclic', 'TypeError'],
    ['getter', 'TypeError'],
    ['proxy', 'RangeError'],
    ['toJSON', 'ValidationError'],
    ['function', 'ValidationError'],
    ['deep', 'RangeError'],
    ['nested', 'ValidationError'],
    ['wide', 'ValidationError'],
    ['prototype', 'ValidationError'],
    ['polluted', 'TypeError'],
  ])('that asks with what is %s gets an error', async (name, caught) => {
    expect(await run({ run: 'input', name })).toMatchObject({ caught })
  })

  test('that asks with a thenable asks with what its JSON is', async () => {
    expect(await run({ run: 'input', name: 'thenable' })).toEqual({ got: { item: null } })
  })

  test('that sends more headers than fit gets an error before they are read', async () => {
    const { message } = await run({ run: 'headers' })
    expect(message).toBe('request.headers: must be at most 200')
  })

  test('cannot ask as the user of its previous call', async () => {
    const token = await stack.dataToken('one.test', { user: 'ann@one.test' })
    expect((await site.callAs(token, 'hostileMine', { run: 'keep' })).status).toBe(200)
    expect(await run({ run: 'use' })).toMatchObject({ caught: 'CallOver' })
  })
})
