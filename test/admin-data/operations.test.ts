import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let site: RuntimeSite
let functionId: string
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  functionId = await site.putFunction('answer', 'export default () => 42')
  await site.putGroups('staff')
})
afterAll(() => stack[Symbol.asyncDispose]())

describe('an operation', () => {
  test('is created with what it depends on, and listed with its binding', async () => {
    const made = await site.putOperation('ask', {
      lambdaResourceId: functionId,
      auth: { mode: 'groups', groups: ['staff'] },
      cache: { ttlSeconds: 60 },
    })
    expect(made.json).toMatchObject({
      operation: 'ask',
      resourceId: functionId,
      permissionsSync: { status: 'queued' },
    })
    await site.synced()
    const listed = await site.admin('GET', '/resources')
    expect(listed.json.permissionsSync).toEqual({ status: 'succeeded' })
    expect(listed.json.operations).toContainEqual(
      expect.objectContaining({
        operation: 'ask',
        resourceId: functionId,
        lambdaResourceId: functionId,
        auth: { mode: 'groups', groups: ['staff'] },
        cache: { ttlSeconds: 60 },
        permissionsSync: { status: 'succeeded' },
      }),
    )
  })

  test('is overwritten by the same name', async () => {
    await site.putOperation('twice', { lambdaResourceId: functionId })
    await site.putOperation('twice', { preset: { preset: 'echo' }, auth: { mode: 'public' } })
    await site.synced()
    expect((await site.call('twice', 'now an echo')).json).toEqual({
      ok: true,
      data: 'now an echo',
    })
    const listed = await site.admin('GET', '/resources')
    const found = listed.json.operations.filter(
      (item: { operation: string }) => item.operation === 'twice',
    )
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({ resourceId: null, preset: { preset: 'echo' } })
  })

  test('is gone for its visitors after DELETE', async () => {
    await site.putOperation('short', { preset: { preset: 'echo' }, auth: { mode: 'public' } })
    await site.synced()
    expect((await site.call('short')).status).toBe(200)
    expect((await site.admin('DELETE', '/operations/short')).json).toEqual({ ok: true })
    await site.synced()
    const gone = await site.call('short')
    expect(gone).toMatchObject({
      status: 404,
      json: { ok: false, error: { code: 'OperationNotFound' } },
    })
    expect(await site.admin('DELETE', '/operations/short')).toMatchObject({
      status: 404,
      json: { error: { code: 'OperationNotFound' } },
    })
  })

  test('that does not exist has no cache to drop', async () => {
    expect(await site.admin('POST', '/operations/nothing')).toMatchObject({
      status: 404,
      json: { error: { code: 'OperationNotFound' } },
    })
  })

  test.each([
    ['a reserved name', { operation: 'auth', preset: { preset: 'echo' } }, 'reserved'],
    ['nothing to depend on', { operation: 'a' }, 'lambdaResourceId'],
    ['an unknown function', { operation: 'a', lambdaResourceId: 'res_none' }, 'does not exist'],
    ['an unknown mode', { operation: 'a', preset: { preset: 'echo' }, auth: { mode: 'all' } }, ''],
    [
      'too long a cache',
      { operation: 'a', preset: { preset: 'echo' }, cache: { ttlSeconds: 3601 } },
      '',
    ],
    [
      'a preset on a table that is not there',
      { operation: 'a', preset: { preset: 'ddb.get', resourceId: 'res_none' } },
      'preset.resourceId: resource \\"res_none\\" does not exist',
    ],
    ['an unknown field', { operation: 'a', preset: { preset: 'echo' }, colour: 1 }, 'colour'],
  ])('is refused with %s', async (_what, body, words) => {
    const answer = await site.admin('POST', '/operations', body)
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(answer.text).toContain(words)
  })

  test('cannot depend on a table', async () => {
    const bucket = await site.admin('POST', '/resources', { type: 's3Bucket', name: 'bucket' })
    const answer = await site.admin('POST', '/operations', {
      operation: 'a',
      lambdaResourceId: bucket.json.resourceId,
    })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('not a function')
  })

  test('cannot depend on a function of another site', async () => {
    const two = await RuntimeSite.open(stack, 'two.test')
    const answer = await two.admin('POST', '/operations', {
      operation: 'steal',
      lambdaResourceId: functionId,
    })
    expect(answer.status).toBe(400)
  })
})

describe('reconcile', () => {
  test('queues a new revision, which answers as before', async () => {
    await site.putOperation('same', { lambdaResourceId: functionId, auth: { mode: 'public' } })
    await site.synced()
    const before = await site.admin('GET', '/usage')
    const queued = await site.admin('POST', '/reconcile')
    expect(queued).toMatchObject({
      status: 200,
      json: { status: 'queued', permissionsSync: { status: 'queued' } },
    })
    await site.synced()
    expect((await site.call('same')).json).toEqual({ ok: true, data: 42 })
    const after = await site.admin('GET', '/usage')
    expect(after.json.runtime.loadedRevision).toBeGreaterThan(
      before.json.runtime.loadedRevision ?? 0,
    )
  })
})
