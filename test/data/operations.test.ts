import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const HELLO = 'export default () => "hello"'

/** Gives a function code that no route would take. */
async function smuggle(host: string, resourceId: string, code: object): Promise<void> {
  await stack.inSite(host, async (tx) => {
    const { config } = await tx.db
      .selectFrom('data_resource')
      .select('config')
      .where('site_id', '=', tx.siteId)
      .where('resource_id', '=', resourceId)
      .executeTakeFirstOrThrow()
    const { code: _code, artifact: _artifact, ...rest } = config as Record<string, unknown>
    await tx.db
      .updateTable('data_resource')
      .set({ config: JSON.stringify({ ...rest, ...code }) })
      .where('site_id', '=', tx.siteId)
      .where('resource_id', '=', resourceId)
      .execute()
  })
  const own = await RuntimeSite.open(stack, host)
  await own.admin('POST', '/reconcile')
  await own.synced()
}

describe('a call', () => {
  test('runs the function with the payload and says who called', async () => {
    const functionId = await site.putFunction(
      'whoami',
      'export default ({ payload, auth, operation, site }) => ({ payload, auth, operation, site })',
    )
    await site.putOperation('open', { lambdaResourceId: functionId, auth: { mode: 'public' } })
    await site.putOperation('closed', { lambdaResourceId: functionId })
    await site.synced()
    const open = await site.call('open', { name: 'Ada' })
    expect(open).toMatchObject({ status: 200 })
    expect(open.headers['content-type']).toBe('application/json')
    expect(open.headers).not.toHaveProperty('x-cache')
    expect(open.json).toMatchObject({
      ok: true,
      data: {
        payload: { name: 'Ada' },
        auth: null,
        operation: 'open',
        site: { siteDomain: 'one.test' },
      },
    })
    const token = await stack.dataToken('one.test', { groups: ['staff'] })
    const closed = await site.callAs(token, 'closed', 1)
    expect(closed.json.data).toMatchObject({ payload: 1, auth: { groups: ['staff'] } })
  })

  test('reaches each mode by the routes that serve it', async () => {
    const echo = { preset: { preset: 'echo' } }
    await site.putOperation('forAll', { ...echo, auth: { mode: 'public' } })
    await site.putOperation('forVisitors', { ...echo, auth: { mode: 'authenticated' } })
    await site.putGroups('staff', 'board')
    await site.putOperation('forStaff', {
      ...echo,
      auth: { mode: 'groups', groups: ['staff', 'board'] },
    })
    await site.synced()
    const visitor = await stack.dataToken('one.test')
    const staff = await stack.dataToken('one.test', { user: 'kim@one.test', groups: ['board'] })
    const seen = async (operation: string) => [
      (await site.call(operation)).status,
      (await site.send(`/data/${operation}`, '{}')).status,
      (await site.callAs(visitor, operation)).status,
      (await site.callAs(staff, operation)).status,
    ]
    // By the public route, without a token, as a visitor, as a member.
    expect(await seen('forAll')).toEqual([200, 401, 200, 200])
    expect(await seen('forVisitors')).toEqual([401, 401, 200, 200])
    expect(await seen('forStaff')).toEqual([401, 401, 403, 200])
    expect(await seen('forNobody')).toEqual([404, 401, 404, 404])
  })

  test.each([
    ['no JSON', '{"payload":', 400, 'InvalidJson'],
    ['a list', '[1]', 400, 'ValidationError'],
    ['a word', '"payload"', 400, 'ValidationError'],
    [
      'too deep nesting',
      `{"payload":${'['.repeat(200)}${']'.repeat(200)}}`,
      400,
      'ValidationError',
    ],
    ['more than 6 MiB', `{"payload":"${'x'.repeat(6 * 1024 * 1024)}"}`, 413, 'PayloadTooLarge'],
  ])('with %s is refused in the envelope', async (_what, body, status, code) => {
    await site.putOperation('echoed', { preset: { preset: 'echo' }, auth: { mode: 'public' } })
    await site.synced()
    const answer = await site.send('/data/public/echoed', body)
    expect(answer).toMatchObject({ status, json: { ok: false, error: { code } } })
  })

  test('with a broken body is refused by a function as by a preset', async () => {
    await site.publish('strict', 'export default ({ payload }) => payload')
    for (const [body, code] of [
      ['{"payload":', 'InvalidJson'],
      ['[1]', 'ValidationError'],
    ] as const) {
      const answer = await site.send('/data/public/strict', body)
      expect(answer).toMatchObject({ status: 400, json: { ok: false, error: { code } } })
    }
  })

  test('without a body has the payload null', async () => {
    await site.publish('empty', 'export default ({ payload }) => [payload]')
    const answer = await stack.call('one.test', 'POST', '/data/public/empty')
    expect(answer).toMatchObject({ status: 200, json: { ok: true, data: [null] } })
  })

  test('in another type than JSON is refused', async () => {
    await site.putOperation('typed', { preset: { preset: 'echo' }, auth: { mode: 'public' } })
    await site.synced()
    const form = await site.send('/data/public/typed', 'a=1', { 'content-type': 'text/plain' })
    expect(form).toMatchObject({
      status: 415,
      json: { ok: false, error: { code: 'UnsupportedMediaType' } },
    })
    const patch = { 'content-type': 'application/merge-patch+json; charset=utf-8' }
    expect((await site.send('/data/public/typed', '{}', patch)).status).toBe(200)
  })

  test('by GET gets an error that says what the path answers', async () => {
    const answer = await stack.call('one.test', 'GET', '/data/public/typed')
    expect(answer).toMatchObject({ status: 405, json: { error: { code: 'MethodNotAllowed' } } })
    expect(answer.headers['allow']).toContain('POST')
  })
})

describe('a failure', () => {
  // A busy machine must not end a call by its CPU time before it meets the limit that it is about.
  beforeAll(async () => {
    const { siteId } = await stack.context.sites.find('one.test')
    await stack.context.sites.update(siteId, {
      deploymentSettings: { limits: { cpuMs: 10_000 } },
    })
  })

  test.each([
    ['a throw', 'throw new Error("secret detail")', 500, 'OperationFailed'],
    [
      'a thrown 4xx',
      'throw { statusCode: 409, code: "SoldOut", message: "no more" }',
      409,
      'SoldOut',
    ],
    ['a cycle', 'const a = {}; a.a = a; return a', 502, 'InvalidOperationResult'],
    ['a result over 6 MiB', 'return "x".repeat(7e6)', 502, 'InvalidOperationResult'],
    ['a wait without end', 'await new Promise(() => {})', 504, 'OperationTimeout'],
    [
      'a hunger for memory',
      'const a = []; for (;;) a.push(new Array(1e5).fill(a.length))',
      507,
      'MemoryLimitExceeded',
    ],
  ] as const)('by %s is its own error', async (what, body, status, code) => {
    const name = `fails${what.replaceAll(/[^a-z0-9]/gi, '')}`
    const config = { timeoutSeconds: code === 'MemoryLimitExceeded' ? 10 : 0.5, memoryMb: 32 }
    const functionId = await site.putFunction(
      name,
      `export default async () => { ${body} }`,
      config,
    )
    await site.putOperation(name, { lambdaResourceId: functionId, auth: { mode: 'public' } })
    await site.synced()
    const answer = await site.call(name)
    expect(answer).toMatchObject({ status, json: { ok: false, error: { code } } })
    expect(answer.text).not.toContain('secret detail')
    expect(answer.headers['x-request-id']).toBe(answer.json.error.requestId)
  })

  test('by no end is its own error', async () => {
    const endless = await RuntimeSite.create(stack, 'endless.test')
    const { siteId } = await stack.context.sites.find('endless.test')
    const limits = { cpuMs: 500 }
    await stack.context.sites.update(siteId, { deploymentSettings: { limits } })
    await endless.publish('endless', 'export default () => { for (;;); }')
    const answer = await endless.call('endless')
    expect(answer).toMatchObject({
      status: 504,
      json: {
        ok: false,
        error: { code: 'OperationTimeout', limit: { name: 'cpuMs', value: 500 } },
      },
    })
    expect(answer.headers['x-request-id']).toBe(answer.json.error.requestId)
  })

  test('by a limit names the limit, what was used, the operation and the request', async () => {
    const functionId = await site.putFunction(
      'slow',
      'export default () => new Promise(() => {})',
      {
        timeoutSeconds: 0.2,
      },
    )
    await site.putOperation('slow', { lambdaResourceId: functionId, auth: { mode: 'public' } })
    await site.synced()
    const { json, headers } = await site.call('slow')
    expect(json.error).toMatchObject({
      code: 'OperationTimeout',
      operation: 'slow',
      requestId: headers['x-request-id'],
      limit: { name: 'timeoutMs', value: 200, used: expect.any(Number) },
    })
  })

  test('to load new code leaves the function with its earlier code, and is named by the sync', async () => {
    const own = await RuntimeSite.create(stack, 'faulty.test')
    await own.publish('good', 'export default () => "fine"')
    const absent = await own.publish('absent', HELLO)
    const throwing = await own.publish('throwing', HELLO)
    await smuggle('faulty.test', absent, { artifact: 'functions/absent.ts' })
    await smuggle('faulty.test', throwing, {
      code: 'throw new Error("boot")\nexport default () => 1',
    })
    for (const [operation, data] of [
      ['good', 'fine'],
      ['absent', 'hello'],
      ['throwing', 'hello'],
    ] as const) {
      expect((await own.call(operation)).json).toEqual({ ok: true, data })
    }
    const listed = await own.admin('GET', '/resources')
    expect(listed.json.permissionsSync.status).toBe('failed')
    const { error } = listed.json.permissionsSync
    expect(error).toContain('function "absent" goes on with its earlier code')
    expect(error).toContain('"functions/absent.ts" is not a code file')
    expect(error).toContain('function "throwing" goes on with its earlier code')
    expect(error).toContain('line 1: boot')
    await smuggle('faulty.test', absent, { code: 'export default () => "new"' })
    await smuggle('faulty.test', throwing, { code: 'export default () => "new"' })
    expect((await own.call('absent')).json.data).toBe('new')
    expect((await own.admin('GET', '/resources')).json.permissionsSync.status).toBe('succeeded')
  })

  test('to load a function that never did is an invalid function, and leaves the others alone', async () => {
    const own = await RuntimeSite.create(stack, 'never.test')
    await own.publish('good', 'export default () => "fine"')
    const never = { type: 's3Bucket', name: 'never' }
    const { resourceId } = (await own.admin('POST', '/resources', never)).json
    const config = { code: 'throw 1', handler: 'default', timeoutSeconds: 1, memoryMb: 64 }
    await stack.inSite('never.test', (tx) =>
      tx.db
        .updateTable('data_resource')
        .set({
          type: 'lambdaFunction',
          config: JSON.stringify({ ...config, environment: [], resources: [] }),
        })
        .where('site_id', '=', tx.siteId)
        .where('resource_id', '=', resourceId)
        .execute(),
    )
    await own.putOperation('bad', { lambdaResourceId: resourceId, auth: { mode: 'public' } })
    await own.synced()
    expect((await own.call('good')).json).toEqual({ ok: true, data: 'fine' })
    expect(await own.call('bad')).toMatchObject({
      status: 500,
      json: { ok: false, error: { code: 'InvalidFunction', operation: 'bad' } },
    })
    expect((await own.admin('GET', '/resources')).json.permissionsSync).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('function "never"'),
    })
  })
})
