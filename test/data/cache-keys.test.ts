import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** Answers each run differently, whichever isolate it is given to. */
const RUN = 'export default () => crypto.randomUUID()'
const CACHED = { auth: { mode: 'public' }, cache: { ttlSeconds: 600 } }
const TABLE = { type: 'ddbTable', config: { partitionKey: { name: 'id', type: 'S' } } }

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const setVariable = (name: string, value: string) =>
  site.admin('PUT', '/env-vars', {
    storageBackend: 'ssmSecureString',
    variables: { [name]: { value, secret: true } },
  })
const makeTable = async (name: string): Promise<string> =>
  (await site.admin('POST', '/resources', { ...TABLE, name })).json.resourceId
const change = (resourceId: string, config: object) =>
  site.admin('PATCH', `/resources/${resourceId}`, { config })
const setSettings = async (settings: object) => {
  const answer = await stack.portal('PATCH', '/sites/one.test', { deploymentSettings: settings })
  expect(answer.status).toBe(200)
}

/** A function with an operation of the same name that keeps its answers. */
async function bound(name: string, code = RUN, config: object = {}): Promise<string> {
  const lambdaResourceId = await site.putFunction(name, code, config)
  await site.putOperation(name, { lambdaResourceId, ...CACHED })
  return lambdaResourceId
}

/** Whether the answer from before is given after `work`. */
async function survives(operation: string, work: () => Promise<unknown>): Promise<boolean> {
  await site.synced()
  const first = await site.call(operation)
  expect(first).toMatchObject({ status: 200 })
  expect((await site.call(operation)).headers['x-cache']).toBe('HIT')
  await work()
  await site.synced()
  const after = await site.call(operation)
  expect(after.status).toBe(200)
  return after.headers['x-cache'] === 'HIT' && after.text === first.text
}

describe('a kept answer', () => {
  test('survives what does not concern its operation', async () => {
    const neighbour = await bound('neighbour')
    await bound('kept', RUN, { environment: ['OWN'] })
    await setVariable('OWN', 'mine')
    const unrelated: [string, () => Promise<unknown>][] = [
      ['another function', () => site.putFunction('idle', RUN)],
      ['another operation', () => bound('newcomer')],
      ['new code of another', () => change(neighbour, { code: 'export default () => 2' })],
      ['a table', () => makeTable('unrelated')],
      ['a variable of others', () => setVariable('THEIRS', 'x')],
      ['its own variable, as it is', () => setVariable('OWN', 'mine')],
      ['an operation that is gone', () => site.admin('DELETE', '/operations/newcomer')],
      ['a new revision of the same', () => site.admin('POST', '/reconcile')],
    ]
    for (const [what, work] of unrelated)
      expect([what, await survives('kept', work)]).toEqual([what, true])
  })

  test('ends with each change of its function', async () => {
    const table = await makeTable('seen')
    const id = await bound('own')
    const changes: [string, () => Promise<unknown>][] = [
      ['code', () => change(id, { code: `${RUN} // new` })],
      ['a grant', () => change(id, { resources: [{ resourceId: table, access: 'read' }] })],
      [
        'a wider grant',
        () => change(id, { resources: [{ resourceId: table, access: 'readWrite' }] }),
      ],
      ['the names of variables', () => change(id, { environment: ['SECRET'] })],
      ['a variable', () => setVariable('SECRET', 'a')],
      ['another value', () => setVariable('SECRET', 'b')],
      ['the earlier value', () => setVariable('SECRET', 'a')],
      [
        'no variable',
        () => site.admin('PUT', '/env-vars', { variables: { SECRET: { value: null } } }),
      ],
      ['the time it has', () => change(id, { timeoutSeconds: 3 })],
      ['the hosts it may reach', () => setSettings({ egress: { allow: ['api.example.com'] } })],
    ]
    for (const [what, work] of changes)
      expect([what, await survives('own', work)]).toEqual([what, false])
  })

  test('ends when the table behind a preset is made again under its name', async () => {
    const bind = async (resourceId: string) =>
      site.putOperation('listed', {
        preset: { preset: 'ddb.get', resourceId, fixed: { key: { id: '1' } } },
        ...CACHED,
      })
    const table = await makeTable('again')
    await bind(table)
    const kept = await survives('listed', async () => {
      await site.admin('DELETE', '/operations/listed')
      await site.admin('DELETE', `/resources/${table}`)
      await bind(await makeTable('again'))
    })
    expect(kept).toBe(false)
  })

  test('ends with an operation that its function calls', async () => {
    const inner = await bound('inner', 'export default () => "old"')
    await bound('outer', 'export default async (_event, ctx) => ctx.operation("inner")')
    const work = () => change(inner, { code: 'export default () => "new"' })
    expect(await survives('outer', work)).toBe(false)
    expect((await site.call('outer')).json.data).toBe('new')
  })

  test('is not one where code calls operations by a name that cannot be known', async () => {
    const inner = await bound('hidden-inner', 'export default () => "old"')
    await bound(
      'hidden',
      'export default async (_event, ctx) => ctx["oper" + "ation"]("hidden-inner")',
    )
    await site.synced()
    expect((await site.call('hidden')).json.data).toBe('old')
    expect((await site.call('hidden')).headers['x-cache']).toBe('MISS')
    await change(inner, { code: 'export default () => "new"' })
    await site.synced()
    expect((await site.call('hidden')).json.data).toBe('new')
  })

  test('of a public operation is not given to strangers once it asks for a token', async () => {
    const lambdaResourceId = await bound('closing')
    const put = (mode: string) =>
      site.putOperation('closing', { lambdaResourceId, auth: { mode }, cache: { ttlSeconds: 600 } })
    await site.synced()
    const open = await site.call('closing')
    await put('authenticated')
    await site.synced()
    expect((await site.call('closing')).status).toBe(401)
    const token = await stack.dataToken('one.test')
    const closed = await site.callAs(token, 'closing')
    expect(closed.headers['x-cache']).toBe('MISS')
    await put('public')
    await site.synced()
    const again = await site.call('closing')
    expect(again.headers['x-cache']).toBe('MISS')
    expect(new Set([open.text, closed.text, again.text]).size).toBe(3)
  })

  test.each(['overwritten with the same', 'deleted and made again'])(
    'ends when it is %s',
    async (how) => {
      const name = how.slice(0, 7)
      const lambdaResourceId = await bound(name)
      const kept = await survives(name, async () => {
        if (name === 'deleted') await site.admin('DELETE', `/operations/${name}`)
        await site.putOperation(name, { lambdaResourceId, ...CACHED })
      })
      expect(kept).toBe(false)
    },
  )

  test('survives on another replica as well', async () => {
    await using beside = await startStack({ beside: stack })
    const there = await RuntimeSite.open(beside, 'one.test')
    await bound('everywhere')
    await site.synced()
    const first = await there.call('everywhere')
    await bound('between')
    await site.synced()
    await expect.poll(async () => (await there.call('between')).status).toBe(200)
    expect((await there.call('everywhere')).text).toBe(first.text)
  })
})
