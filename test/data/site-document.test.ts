import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { carryOut } from '#test/iac.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let site: RuntimeSite
const LINE = { type: 'object', properties: { next: { $ref: '#' }, kind: { $ref: '#/$defs/kind' } } }
const INPUT = { ...LINE, $defs: { kind: { enum: ['a', { $ref: '#' }] } } }

beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  const lambdaResourceId = await site.putFunction('echo', 'export default ({ payload }) => payload')
  await site.putGroups('staff')
  await site.putOperation('open', {
    lambdaResourceId,
    auth: { mode: 'public' },
    input: INPUT,
    output: true,
  })
  await site.putOperation('closed', { lambdaResourceId })
  await site.putOperation('forStaff', {
    lambdaResourceId,
    auth: { mode: 'groups', groups: ['staff'] },
  })
  const served = await site.putFunction('served', 'export default { fetch: () => new Response() }')
  await site.putOperation('files', {
    lambdaResourceId: served,
    http: true,
    auth: { mode: 'public' },
  })
  await site.synced()
})
afterAll(() => stack[Symbol.asyncDispose]())

const read = (headers: Record<string, string> = {}) =>
  stack.call('one.test', 'GET', '/data/openapi.json', { headers })
const as = (token: string) => ({ authorization: `Bearer ${token}` })
const pathsOf = async (headers?: Record<string, string>) =>
  Object.keys((await read(headers)).json.paths)

describe('the document of a site', () => {
  test('shows each caller what it may call, and no other name', async () => {
    const open = ['/data/public/files', '/data/public/open']
    expect(await pathsOf()).toEqual(open)
    expect((await read()).text).not.toMatch(/closed|forStaff|staff/)
    const visitor = as(await stack.dataToken('one.test'))
    expect(await pathsOf(visitor)).toEqual(['/data/closed', '/data/files', '/data/open', ...open])
    expect((await read(visitor)).text).not.toMatch(/forStaff|staff/)
    const staff = as(await stack.dataToken('one.test', { user: 'kim@one.test', groups: ['staff'] }))
    expect(await pathsOf(staff)).toContain('/data/forStaff')
    expect(await read(as('none'))).toMatchObject({ status: 401 })
  })

  test('has the schemas, with references that lead to them', async () => {
    const { json } = await read()
    expect(json).toMatchObject({ openapi: '3.1.1', info: { title: 'one.test' } })
    const { post } = json.paths['/data/public/open']
    expect(post).toMatchObject({ operationId: 'public.open', security: [] })
    expect(post.requestBody.content['application/json'].schema.properties.payload).toEqual({
      $ref: '#/components/schemas/open.input',
    })
    expect(json.components.schemas['open.input']).toEqual({
      type: 'object',
      properties: {
        next: { $ref: '#/components/schemas/open.input' },
        kind: { $ref: '#/components/schemas/open.input/$defs/kind' },
      },
      // A value, which refers to nothing.
      $defs: { kind: { enum: ['a', { $ref: '#' }] } },
    })
    expect(Object.keys(json.paths['/data/public/files'])).toEqual([
      'delete',
      'get',
      'patch',
      'post',
      'put',
    ])
  })

  test('is sent again only when it has changed', async () => {
    const { headers } = await read()
    expect(headers['cache-control']).toBe('private, no-cache')
    const etag = String(headers['etag'])
    expect(await read({ 'if-none-match': etag })).toMatchObject({ status: 304 })
    await site.putOperation('later', { preset: { preset: 'echo' }, auth: { mode: 'public' } })
    await site.synced()
    const changed = await read({ 'if-none-match': etag })
    expect(changed.status).toBe(200)
    expect(changed.json.paths).toHaveProperty(['/data/public/later'])
  })
})

describe('schemas in a definition', () => {
  const definition = (rest: object) => ({
    operations: [{ operation: 'defined', preset: 'echo', auth: { mode: 'public' }, ...rest }],
  })
  const call = async (payload: unknown) => {
    await site.synced()
    return (await site.call('defined', payload)).status
  }

  test('are applied, exported as they are, and taken away', async () => {
    const input = { type: 'integer', title: 'Count' }
    expect((await carryOut(site, 'apply', definition({ input }))).json.status).toBe('succeeded')
    expect([await call('x'), await call(1)]).toEqual([400, 200])
    const { json } = await site.admin('GET', '/iac/export')
    const exported = json.operations.find(
      ({ operation }: { operation: string }) => operation === 'defined',
    )
    expect(exported).toMatchObject({ input })
    const again = await carryOut(site, 'plan', { operations: [exported] })
    expect(again.json.summary).toMatchObject({ created: 0, updated: 0 })
    expect((await carryOut(site, 'apply', definition({}))).json.summary).toMatchObject({
      updated: 1,
      changes: [{ name: 'defined', fields: ['input'] }],
    })
    expect([await call('x'), await call(1)]).toEqual([200, 200])
  })

  test('that are not valid name their place in it', async () => {
    const answer = await carryOut(site, 'plan', definition({ input: { items: { typ: 'x' } } }))
    expect(answer).toMatchObject({
      status: 400,
      json: {
        error: {
          details: [
            {
              field: 'operations[0].input/items/typ',
              message: 'is not a keyword that is supported: did you mean "type"?',
            },
          ],
        },
      },
    })
  })

  test('are named in the audit trail when they change, and not shown there', async () => {
    await site.putOperation('audited', { preset: { preset: 'echo' } })
    await site.putOperation('audited', { preset: { preset: 'echo' }, input: { const: 'hidden' } })
    const trail = await stack.portal('GET', '/sites/one.test/audit?limit=100')
    expect(trail.text).toContain('"changed":"input"')
    expect(trail.text).not.toContain('hidden')
  })
})
