import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { request } from '#test/http-client.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** Calls the operation that the payload names, and tells how a refusal looks. */
const CALLER = `
export default async ({ payload }, { operation }) => {
  try {
    return { got: await operation(payload.operation, payload.payload) }
  } catch ({ name, code, statusCode, message, limit }) {
    return { caught: { name, code, statusCode, message, limit } }
  }
}`

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  const caller = await site.putFunction('caller', CALLER)
  await site.putOperation('call', { lambdaResourceId: caller, auth: { mode: 'public' } })
  await site.putOperation('callCached', {
    lambdaResourceId: caller,
    auth: { mode: 'public' },
    cache: { ttlSeconds: 60 },
  })
  const whoami = await site.putFunction(
    'whoami',
    `let runs = 0
    export default ({ payload, auth, operation, requestId }) =>
      ({ payload, auth, operation, requestId, runs: ++runs })`,
  )
  const modes = {
    open: { mode: 'public' },
    closed: { mode: 'authenticated' },
    staff: { mode: 'groups', groups: ['staff'] },
  }
  await site.putGroups('staff')
  for (const [name, auth] of Object.entries(modes)) {
    await site.putOperation(name, { lambdaResourceId: whoami, auth })
  }
  await site.putOperation('cached', {
    lambdaResourceId: whoami,
    auth: { mode: 'public' },
    cache: { ttlSeconds: 60 },
  })
  await site.publish(
    'refuse',
    `export default ({ payload }) => { throw payload ?? new Error('a secret of the function') }`,
  )
})
afterAll(() => stack[Symbol.asyncDispose]())

const nested = async (operation: string, payload?: unknown, token?: string) => {
  const asked = { operation, payload }
  const answer = await (token === undefined
    ? site.call('call', asked)
    : site.callAs(token, 'call', asked))
  expect(answer.status, answer.text).toBe(200)
  return { ...answer.json.data, requestId: answer.headers['x-request-id'] }
}

describe('an operation that a function calls', () => {
  test('gets the payload, and the caller and request of the outer one', async () => {
    const token = await stack.dataToken('one.test', { user: 'kim@one.test', groups: ['staff'] })
    const { got, requestId } = await nested('staff', { deep: [1] }, token)
    expect(got).toMatchObject({
      payload: { deep: [1] },
      operation: 'staff',
      requestId,
      auth: { groups: ['staff'] },
    })
    expect((await nested('open')).got).toMatchObject({ payload: null, auth: null })
  })

  test('admits callers that its own rule admits, and no other', async () => {
    const visitor = await stack.dataToken('one.test')
    const reached = async (operation: string, token?: string) => {
      const { got, caught } = await nested(operation, 1, token)
      return got ? 200 : [caught.code, caught.statusCode]
    }
    expect(await reached('open')).toBe(200)
    expect(await reached('closed')).toEqual(['Unauthorized', 401])
    expect(await reached('staff')).toEqual(['Unauthorized', 401])
    expect(await reached('closed', visitor)).toBe(200)
    expect(await reached('staff', visitor)).toEqual(['Forbidden', 403])
    expect(await reached('nothing', visitor)).toEqual(['OperationNotFound', 404])
    expect(await reached('auth/config', visitor)).toEqual(['OperationNotFound', 404])
  })

  test('opens everything to the site itself', async () => {
    const answer = await stack.context.operationCalls.call({
      site: await stack.context.sites.find('one.test'),
      operation: 'call',
      requestId: 'req_of_a_job',
      authority: 'system',
      depth: 0,
      body: JSON.stringify({ payload: { operation: 'staff', payload: 7 } }),
    })
    expect(JSON.parse(answer.body).data.got).toMatchObject({
      payload: 7,
      auth: null,
      requestId: 'req_of_a_job',
    })
  })

  test('leaves nothing that the site itself may see in the answers kept for strangers', async () => {
    const asked = { operation: 'staff', payload: 'kept' }
    const bySystem = await stack.context.operationCalls.call({
      site: await stack.context.sites.find('one.test'),
      operation: 'callCached',
      requestId: 'req_of_a_job',
      authority: 'system',
      depth: 0,
      body: JSON.stringify({ payload: asked }),
    })
    expect(bySystem.body).toContain('"got"')
    const byStranger = await site.call('callCached', asked)
    expect(byStranger.json.data.caught).toMatchObject({ code: 'Unauthorized' })
  })

  test('fails as a visitor would see it, and what the function kept to itself stays there', async () => {
    const own = { statusCode: 422, code: 'NotToday', message: 'Come back tomorrow' }
    expect((await nested('refuse', own)).caught).toMatchObject({ name: 'NotToday', ...own })
    const { caught } = await nested('refuse')
    expect(caught).toMatchObject({ code: 'OperationFailed', statusCode: 500 })
    expect(JSON.stringify(caught)).not.toContain('secret')
  })

  test('is counted, and answers from the cache', async () => {
    const first = (await nested('cached', 'same')).got
    const again = (await nested('cached', 'same')).got
    expect(again).toEqual(first)
    const usage = await site.admin('GET', '/usage')
    const counted = usage.json.items.find(
      ({ operation }: { operation: string }) => operation === 'cached',
    )
    expect(counted).toMatchObject({ calls: 2, cacheHits: 1 })
  })

  test('may be eight deep and no deeper, also when it is its own', async () => {
    await site.publish(
      'down',
      `export default async ({ payload }, { operation }) => {
        try { return await operation('down', payload + 1) }
        catch ({ code, limit, message }) { return { depth: payload, code, limit, message } }
      }`,
      { cache: { ttlSeconds: 60 } },
    )
    expect((await site.call('down', 0)).json.data).toMatchObject({
      depth: 8,
      code: 'OperationNestedTooDeep',
      limit: { name: 'nestedOperations', value: 8 },
      message: expect.stringContaining('8 calls'),
    })
    // The same payload again and again: a run must not wait for one that waits for it.
    await site.publish(
      'circle',
      `export default async (input, { operation }) => {
        try { return 1 + await operation('circle') } catch ({ code }) { return code === 'OperationNestedTooDeep' ? 0 : code }
      }`,
      { cache: { ttlSeconds: 60 } },
    )
    expect((await site.call('circle')).json.data).toBe(8)
  })
})

describe('a site with few places', () => {
  async function narrow(domain: string, concurrency: number): Promise<RuntimeSite> {
    const narrowSite = await RuntimeSite.create(stack, domain)
    const { siteId } = await stack.context.sites.find(domain)
    const patched = await stack.portal('PATCH', `/sites/${siteId}`, {
      deploymentSettings: {
        limits: { concurrency, suspendedCalls: 0, queueMs: 60_000, queueLength: 64 },
      },
    })
    expect(patched.status, patched.text).toBe(200)
    await narrowSite.publish('leaf', `export default ({ payload }) => payload`)
    await narrowSite.publish(
      'tree',
      `export default async ({ payload: { depth, width } }, { operation }) => {
        if (depth === 0) return 1
        const below = await Promise.all(Array.from({ length: width }, () => operation('tree', { depth: depth - 1, width })))
        return below.reduce((sum, one) => sum + one, 0)
      }`,
    )
    return narrowSite
  }

  test('never waits for itself, however few there are and however many call', async () => {
    const narrowSite = await narrow('narrow.test', 1)
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => narrowSite.call('tree', { depth: 2, width: 3 })),
    )
    expect(answers.map(({ json }) => json.data ?? json.error)).toEqual(answers.map(() => 9))
    expect((await narrowSite.call('tree', { depth: 8, width: 1 })).json.data).toBe(1)
  })

  test('begins no call whose visitor left while it waited, and goes on with those of calls that had begun', async () => {
    const narrowSite = await narrow('left.test', 1)
    await narrowSite.publish(
      'wait',
      'export default () => new Promise((go) => setTimeout(go, 3000))',
    )
    await narrowSite.publish(
      'count',
      `const begun = []
       export default async ({ payload }, { operation }) => {
         begun.push(payload)
         if (payload === 'first') await operation('wait')
         return begun
       }`,
    )
    const { sandbox } = stack.context
    const call = (payload: string, signal?: AbortSignal) =>
      request({
        port: stack.port,
        host: 'left.test',
        method: 'POST',
        path: '/data/public/count',
        body: { payload },
        ...(signal && { signal }),
      })
    const first = call('first')
    // The call itself, and the one that it makes.
    await expect.poll(() => sandbox.status().suspended).toBe(2)
    const leaving = new AbortController()
    const left = call('left', leaving.signal).catch(() => 'left')
    await expect.poll(() => sandbox.status().queued).toBe(1)
    leaving.abort()
    expect(await left).toBe('left')
    expect((await first).json.data).toEqual(['first'])
    expect((await call('last')).json.data).toEqual(['first', 'last'])
  })

  test('ends what a call has set off when the call ends, and goes on', async () => {
    const narrowSite = await narrow('bomb.test', 2)
    // The queue of 64 is full before the first level is: the call fails, and a million more are never made.
    const answer = await narrowSite.call('tree', { depth: 4, width: 100 })
    expect(answer).toMatchObject({ status: 503, json: { error: { code: 'ServiceUnavailable' } } })
    expect(answer.headers['retry-after']).toBe('1')
    await expect
      .poll(async () => (await narrowSite.call('leaf', 'fine')).json.data, { timeout: 20_000 })
      .toBe('fine')
  })
})
