import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { carryOut } from '#test/iac.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HELLO = 'export default ({ payload }) => ({ hello: payload })'
const KEY = { name: 'id', type: 'S' }
const FUNCTION = { type: 'lambdaFunction' } as const

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

describe('a resource', () => {
  test('is created, listed, read, changed and deleted', async () => {
    const made = await site.admin('POST', '/resources', {
      type: 'lambdaFunction',
      name: 'life',
      config: { code: HELLO, timeoutSeconds: 5 },
    })
    expect(made).toMatchObject({ status: 200 })
    const { resourceId } = made.json
    expect(made.json).toEqual({
      resourceId: expect.stringMatching(/^res_[a-z0-9]{16}$/),
      type: 'lambdaFunction',
      name: 'life',
      permissionsSync: { status: 'queued' },
    })

    const listed = await site.admin('GET', '/resources')
    expect(listed.json.nextToken).toBeNull()
    const found = listed.json.resources.find((item: { name: string }) => item.name === 'life')
    expect(found).toMatchObject({ resourceId, config: { codeBytes: HELLO.length, memoryMb: 128 } })
    expect(found.config).not.toHaveProperty('code')
    const read = await site.admin('GET', `/resources/${resourceId}`)
    expect(read.json.config).toMatchObject({ code: HELLO, timeoutSeconds: 5, handler: 'default' })

    const patched = await site.admin('PATCH', `/resources/${resourceId}`, {
      name: 'afterlife',
      config: { memoryMb: 64 },
    })
    expect(patched.json).toMatchObject({ resourceId, name: 'afterlife' })
    const after = await site.admin('GET', `/resources/${resourceId}`)
    expect(after.json.config).toMatchObject({ code: HELLO, timeoutSeconds: 5, memoryMb: 64 })

    const removed = await site.admin('DELETE', `/resources/${resourceId}`)
    expect(removed).toMatchObject({ status: 200, json: { ok: true } })
    const gone = await site.admin('GET', `/resources/${resourceId}`)
    expect(gone).toMatchObject({ status: 404, json: { error: { code: 'ResourceNotFound' } } })
  })

  test('holds its share of the inline code of its site', async () => {
    const own = await RuntimeSite.create(stack, 'code.test')
    const names = await fillWithCode('code.test')
    const limit = 'at most 10485760 bytes of inline code together'
    const config = { code: HELLO }
    const refused = await own.admin('POST', '/resources', { ...FUNCTION, name: 'more', config })
    expect(refused).toMatchObject({
      status: 400,
      json: { error: { details: [{ field: 'config.code' }] } },
    })
    expect(refused.json.error.message).toContain(limit)
    const [{ resourceId }] = (await own.admin('GET', '/resources')).json.resources
    const longer = { config: { code: `${HELLO}/*${'x'.repeat(1024 * 1024 - 100)}*/` } }
    expect(
      (await own.admin('PATCH', `/resources/${resourceId}`, longer)).json.error.message,
    ).toContain(limit)
    const definition = { resources: [{ ...FUNCTION, name: 'more', config }] }
    expect((await carryOut(own, 'apply', definition)).json).toMatchObject({
      status: 'failed',
      error: expect.stringContaining(limit),
    })
    const after = (await own.admin('GET', '/resources')).json.resources
    expect(after.map(({ name }: { name: string }) => name)).toEqual(names)
    // What leaves with the same job makes room.
    const replaced = await carryOut(own, 'replace', definition, { confirm: true })
    expect(replaced.json.status, replaced.text).toBe('succeeded')
    await stack.inSite('code.test', (tx) => tx.db.deleteFrom('data_resource').execute())
    const made = await own.admin('POST', '/resources', { ...FUNCTION, name: 'more', config })
    expect(made.status).toBe(200)
    await own.synced()
  })

  test('of each type is kept as defined', async () => {
    const table = { partitionKey: KEY, sortKey: { name: 'at', type: 'N' }, ttlAttribute: 'end' }
    const made = await site.admin('POST', '/resources', {
      type: 'ddbTable',
      name: 'orders',
      config: table,
    })
    const read = await site.admin('GET', `/resources/${made.json.resourceId}`)
    expect(read.json).toMatchObject({ type: 'ddbTable', config: table })
    const bucket = await site.admin('POST', '/resources', { type: 's3Bucket', name: 'files' })
    expect(bucket.status).toBe(200)
  })

  test('that is a table of which nothing is said is keyed by a text "id"', async () => {
    const body = { type: 'ddbTable', name: 'plain' }
    const { resourceId } = (await site.admin('POST', '/resources', body)).json
    const { config } = (await site.admin('GET', `/resources/${resourceId}`)).json
    expect(config).toEqual({ partitionKey: { name: 'id', type: 'S' } })
  })

  test('keeps its name to itself, within its site', async () => {
    const body = { type: 's3Bucket', name: 'taken' }
    expect((await site.admin('POST', '/resources', body)).status).toBe(200)
    const again = await site.admin('POST', '/resources', body)
    expect(again).toMatchObject({ status: 409, json: { error: { code: 'ResourceAlreadyExists' } } })
    const other = await site.admin('POST', '/resources', { ...body, name: 'other' })
    const renamed = await site.admin('PATCH', `/resources/${other.json.resourceId}`, {
      name: 'taken',
    })
    expect(renamed).toMatchObject({
      status: 409,
      json: { error: { code: 'ResourceAlreadyExists' } },
    })
    const two = await RuntimeSite.open(stack, 'two.test')
    expect((await two.admin('POST', '/resources', body)).status).toBe(200)
  })

  test('raced by twenty creations of one name is there once', async () => {
    const body = { type: 's3Bucket', name: 'raced' }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => site.admin('POST', '/resources', body)),
    )
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
  })

  test('whose keys would change is refused', async () => {
    const made = await site.admin('POST', '/resources', {
      type: 'ddbTable',
      name: 'keyed',
      config: { partitionKey: KEY },
    })
    const changed = await site.admin('PATCH', `/resources/${made.json.resourceId}`, {
      config: { partitionKey: { name: 'id', type: 'N' } },
    })
    expect(changed).toMatchObject({ status: 409, json: { error: { code: 'ImmutableField' } } })
  })

  test('that an operation uses stays, and the operation is named', async () => {
    const resourceId = await site.putFunction('used', HELLO)
    await site.putOperation('useIt', { lambdaResourceId: resourceId })
    const refused = await site.admin('DELETE', `/resources/${resourceId}`)
    expect(refused).toMatchObject({
      status: 409,
      json: { error: { code: 'ResourceInUse', operations: ['useIt'] } },
    })
    await site.admin('DELETE', '/operations/useIt')
    expect((await site.admin('DELETE', `/resources/${resourceId}`)).status).toBe(200)
  })

  test('that a function was granted stays, and the function is named', async () => {
    const bucket = await site.admin('POST', '/resources', { type: 's3Bucket', name: 'granted' })
    const { resourceId } = bucket.json
    await site.putFunction('grantee', HELLO, { resources: [{ resourceId, access: 'read' }] })
    const refused = await site.admin('DELETE', `/resources/${resourceId}`)
    expect(refused).toMatchObject({
      status: 409,
      json: { error: { code: 'ResourceInUse', functions: ['grantee'] } },
    })
  })

  test('with code that does not load is refused with the line, and nothing is stored', async () => {
    const refused = await site.admin('POST', '/resources', {
      type: 'lambdaFunction',
      name: 'broken',
      config: { code: 'export default () => {\n  return 1\n  const = 2\n}\n' },
    })
    expect(refused).toMatchObject({
      status: 400,
      json: {
        error: {
          code: 'InvalidCode',
          details: [{ field: 'config.code', message: expect.stringMatching(/^line 3: /) }],
        },
      },
    })
    const listed = await site.admin('GET', '/resources')
    expect(listed.text).not.toContain('broken')
  })

  test('keeps its code when a patch brings code that does not load', async () => {
    const resourceId = await site.putFunction('steady', HELLO)
    const refused = await site.admin('PATCH', `/resources/${resourceId}`, {
      config: { code: 'export default (' },
    })
    expect(refused).toMatchObject({ status: 400, json: { error: { code: 'InvalidCode' } } })
    const read = await site.admin('GET', `/resources/${resourceId}`)
    expect(read.json.config.code).toBe(HELLO)
  })

  test('of another site is not found', async () => {
    const resourceId = await site.putFunction('private', HELLO)
    const two = await RuntimeSite.open(stack, 'two.test')
    for (const [method, body] of [['GET'], ['PATCH', { name: 'mine' }], ['DELETE']] as const) {
      const answer = await two.admin(method, `/resources/${resourceId}`, body)
      expect(answer).toMatchObject({ status: 404, json: { error: { code: 'ResourceNotFound' } } })
    }
    expect((await two.admin('GET', '/resources')).text).not.toContain(resourceId)
  })

  test.each([
    ['an unknown type', { type: 'queue', name: 'a' }, 'type'],
    ['no name', { type: 's3Bucket' }, 'name'],
    ['a name with a space', { type: 's3Bucket', name: 'a b' }, 'name'],
    ['a long name', { type: 's3Bucket', name: 'a'.repeat(65) }, 'name'],
    ['an unknown field', { type: 's3Bucket', name: 'a', colour: 'red' }, 'colour'],
    ['a table without a key', { type: 'ddbTable', name: 'a', config: {} }, 'config.partitionKey'],
    [
      'an artifact above the root',
      { type: 'lambdaFunction', name: 'a', config: { artifact: '../a.ts' } },
      'config.artifact',
    ],
    [
      'a grant on nothing',
      {
        type: 'lambdaFunction',
        name: 'a',
        config: { code: HELLO, resources: [{ resourceId: 'res_none', access: 'read' }] },
      },
      'config.resources[0].resourceId',
    ],
  ])('is refused with %s', async (_what, body, field) => {
    const answer = await site.admin('POST', '/resources', body)
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    const fields = answer.json.error.details.map((fault: { field: string }) => fault.field)
    expect(fields).toContain(field)
  })

  test.each([
    ['no token', undefined, 401, 'Unauthorized'],
    ['a plain user', 'user', 403, 'Forbidden'],
  ] as const)('is closed to %s', async (_what, role, status, code) => {
    const token = role && (await stack.adminToken('one.test', role))
    const answer = await stack.call('one.test', 'GET', '/admin/data/resources', { token })
    expect(answer).toMatchObject({ status, json: { error: { code } } })
  })
})

/** Functions that leave no room for another one. */
async function fillWithCode(host: string): Promise<string[]> {
  const names = Array.from({ length: 11 }, (_, at) => `f${at + 10}`)
  const stored = { handler: 'default', timeoutSeconds: 15, memoryMb: 128 }
  const code = (at: number) => 'x'.repeat(at < 2 ? 512 * 1024 - 10 : 1024 * 1024)
  await stack.inSite(host, (tx) =>
    tx.db
      .insertInto('data_resource')
      .values(
        names.map((name, at) => ({
          site_id: tx.siteId,
          resource_id: `res_${name.padEnd(16, '0')}`,
          name,
          ...FUNCTION,
          config: JSON.stringify({ ...stored, code: code(at), environment: [], resources: [] }),
          created_at: new Date(),
          updated_at: new Date(),
        })),
      )
      .execute(),
  )
  return names
}

describe('the list of resources and operations', () => {
  test('comes in pages of both, until both have ended', async () => {
    const own = await RuntimeSite.create(stack, 'paged.test')
    const names = Array.from({ length: 27 }, (_, index) => `b${String(index).padStart(2, '0')}`)
    for (const name of names) {
      await own.admin('POST', '/resources', { type: 's3Bucket', name, config: {} })
    }
    for (const name of ['x', 'y', 'z']) await own.putOperation(name, { preset: { preset: 'echo' } })
    const first = (await own.admin('GET', '/resources')).json
    expect([first.resources.length, first.operations.length]).toEqual([25, 3])

    const seen = { resources: [] as string[], operations: [] as string[], pages: 0 }
    for (let next: string | null = ''; next !== null; seen.pages += 1) {
      const query: string = next && `&nextToken=${next}`
      const { json } = await own.admin('GET', `/resources?limit=2${query}`)
      seen.resources.push(...json.resources.map(({ name }: { name: string }) => name))
      seen.operations.push(...json.operations.map((one: { operation: string }) => one.operation))
      next = json.nextToken
    }
    expect(seen).toEqual({ resources: names, operations: ['x', 'y', 'z'], pages: 14 })
    const foreign = await site.admin('GET', `/resources?nextToken=${first.nextToken}`)
    expect(foreign.json.error.code).toBe('InvalidNextToken')
  })
})
