import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { from } from '#test/accounts-desk.ts'
import { type ChangeSeen, carryOut, changesOf } from '#test/iac.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: [] })
})
afterAll(() => stack[Symbol.asyncDispose]())

const siteOf = async (domain: string) => {
  const site = await RuntimeSite.create(stack, domain)
  const { siteId } = await stack.context.sites.find(domain)
  return { site, siteId }
}
const apply = (site: RuntimeSite, definition: unknown) => carryOut(site, 'apply', definition)

const DEFINITION = {
  resources: [
    {
      type: 'lambdaFunction',
      name: 'hello',
      config: {
        code: 'export default ({ payload }) => `Hello ${payload}`',
        resources: [{ resource: 'guests', access: 'readWrite' }],
      },
    },
    { type: 'ddbTable', name: 'guests', config: { partitionKey: { name: 'id', type: 'S' } } },
  ],
  operations: [
    { operation: 'hello', lambdaResource: 'hello', auth: { mode: 'public' } },
    { operation: 'mirror', preset: 'echo', auth: { mode: 'public' }, cache: { ttlSeconds: 9 } },
  ],
}

describe('a definition', () => {
  test('makes resources and operations that are linked by name', async () => {
    const { site } = await siteOf('made.test')
    const applied = await apply(site, DEFINITION)
    expect(changesOf(applied)).toEqual([
      'create resources guests',
      'create resources hello',
      'create operations hello',
      'create operations mirror',
    ])
    await site.synced()
    expect((await site.call('hello', 'Ada')).json).toEqual({ ok: true, data: 'Hello Ada' })
    const { json } = await site.admin('GET', '/resources')
    const table = json.resources.find((item: { name: string }) => item.name === 'guests')
    const hello = json.resources.find((item: { name: string }) => item.name === 'hello')
    expect(hello.config.resources).toEqual([{ resourceId: table.resourceId, access: 'readWrite' }])
  })

  test('applied again changes nothing, and a changed part changes alone', async () => {
    const { site } = await siteOf('again.test')
    await apply(site, DEFINITION)
    const again = await apply(site, DEFINITION)
    expect(again.json.summary).toMatchObject({ created: 0, updated: 0, deleted: 0, unchanged: 4 })
    const [hello, mirror] = DEFINITION.operations
    const changed = await apply(site, {
      ...DEFINITION,
      operations: [hello, { ...mirror, cache: { ttlSeconds: 10 } }],
    })
    const updated = changed.json.summary.changes.filter(
      ({ action }: ChangeSeen) => action === 'update',
    )
    expect(updated).toEqual([
      {
        section: 'operations',
        name: 'mirror',
        action: 'update',
        status: 'succeeded',
        fields: ['cache.ttlSeconds'],
      },
    ])
  })

  test('never deletes what it does not name', async () => {
    const { site } = await siteOf('kept.test')
    await apply(site, DEFINITION)
    await apply(site, { resources: [], operations: [] })
    const { json } = await site.admin('GET', '/resources')
    expect(json.resources).toHaveLength(2)
    expect(json.operations).toHaveLength(2)
  })

  test('that cannot be carried out changes nothing', async () => {
    const { site } = await siteOf('atomic.test')
    const operations = [...DEFINITION.operations, { operation: 'broken', lambdaResource: 'nobody' }]
    expect(await apply(site, { ...DEFINITION, operations })).toMatchObject({
      status: 400,
      json: {
        error: {
          code: 'ValidationError',
          details: [
            {
              field: 'operations[2].lambdaResource',
              message: 'resource "nobody" is neither in the definition nor on the site',
            },
          ],
        },
      },
    })
    const { json } = await site.admin('GET', '/resources')
    expect(json).toMatchObject({ resources: [], operations: [] })
  })

  test('may not turn a resource into another type, nor change a key', async () => {
    const { site } = await siteOf('typed.test')
    await apply(site, DEFINITION)
    const typed = await apply(site, { resources: [{ type: 's3Bucket', name: 'guests' }] })
    expect(typed).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringContaining('"guests" is a ddbTable already') } },
    })
    const config = { partitionKey: { name: 'id', type: 'N' } }
    const keyed = await apply(site, { resources: [{ type: 'ddbTable', name: 'guests', config }] })
    expect(keyed).toMatchObject({
      status: 400,
      json: {
        error: {
          details: [
            {
              field: 'resources[0].config.partitionKey',
              message: expect.stringContaining('never changes'),
            },
          ],
        },
      },
    })
  })
})

describe('a deployment', () => {
  const deploy = async (siteId: string, texts: Readonly<Record<string, string>>) => {
    const files = Object.entries(texts).map(([path, text]) => ({
      path,
      sha256: createHash('sha256').update(text).digest('hex'),
      sizeBytes: Buffer.byteLength(text),
      text,
    }))
    const { deployments } = stack.context
    const { deploymentId, missing } = await deployments.begin(siteId, {
      source: { type: 'folder' },
      by: { type: 'operator', origin: from() } as const,
      buildYml: 'ARTIFACT_DIR: dist\n',
      files: files.map(({ text: _text, ...file }) => file),
    })
    for (const { sha256, text } of files) {
      if (!missing.includes(sha256)) continue
      await deployments.putFile(siteId, deploymentId, sha256, new Blob([text]).stream())
    }
    return deployments.activate(siteId, deploymentId, { type: 'operator', origin: from() } as const)
  }
  const ARTIFACT = {
    'functions/hello.ts':
      "import { greet } from './lib/greet.ts'\nexport default ({ payload }: { payload: string }): string => greet(payload)",
    'functions/lib/greet.ts': 'export const greet = (name: string): string => `Good day ${name}`',
    'croft.json': JSON.stringify({
      resources: [
        { type: 'lambdaFunction', name: 'hello', config: { artifact: 'functions/hello.ts' } },
      ],
      operations: [{ operation: 'hello', lambdaResource: 'hello', auth: { mode: 'public' } }],
    }),
  }

  test('that carries croft.json serves what it defines, from its own files', async () => {
    const { site, siteId } = await siteOf('deployed.test')
    await deploy(siteId, ARTIFACT)
    await site.synced()
    expect((await site.call('hello', 'Ada')).json).toEqual({ ok: true, data: 'Good day Ada' })
    await deploy(siteId, {
      ...ARTIFACT,
      'functions/lib/greet.ts': 'export const greet = (name: string) => `Bye ${name}`',
    })
    await site.synced()
    await expect
      .poll(async () => (await site.call('hello', 'Ada')).json)
      .toEqual({ ok: true, data: 'Bye Ada' })
  })

  test('whose croft.json is wrong is refused, and the one before stays', async () => {
    const { site, siteId } = await siteOf('wrong.test')
    await deploy(siteId, ARTIFACT)
    await site.synced()
    await expect(
      deploy(siteId, { ...ARTIFACT, 'croft.json': '{"groups":[{}]}', 'functions/hello.ts': '' }),
    ).rejects.toThrow('groups[0].groupName: is required')
    await site.synced()
    expect((await site.call('hello', 'Ada')).json.data).toBe('Good day Ada')
  })

  test('that is refused takes nothing back of what admins have changed since', async () => {
    const { site, siteId } = await siteOf('since.test')
    await deploy(siteId, ARTIFACT)
    await site.synced()
    const [{ resourceId: lambdaResourceId }] = (await site.admin('GET', '/resources')).json
      .resources
    await site.putOperation('hello', { lambdaResourceId, auth: { mode: 'authenticated' } })
    await site.synced()
    const lib = { 'functions/lib/greet.ts': 'export const greet = () => "never"' }
    const refused = deploy(siteId, { ...ARTIFACT, ...lib, 'croft.json': '{"groups":[{}]}' })
    await expect(refused).rejects.toThrow('groups[0].groupName: is required')
    await site.synced()
    expect((await site.call('hello', 'Ada')).status).toBe(401)
    const token = await stack.dataToken('since.test')
    expect((await site.callAs(token, 'hello', 'Ada')).json.data).toBe('Good day Ada')
    expect((await site.admin('GET', '/iac/jobs')).json.items).toHaveLength(1)
  })
})
