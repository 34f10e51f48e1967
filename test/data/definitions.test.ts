import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

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
const apply = (siteId: string, definition: unknown) =>
  stack.context.definitions.apply(siteId, definition)

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
    const { site, siteId } = await siteOf('made.test')
    const { changes } = await apply(siteId, DEFINITION)
    expect(changes.map(({ name, action }) => `${action} ${name}`)).toEqual([
      'create guests',
      'create hello',
      'create hello',
      'create mirror',
    ])
    await site.synced()
    expect((await site.call('hello', 'Ada')).json).toEqual({ ok: true, data: 'Hello Ada' })
    const { json } = await site.admin('GET', '/resources')
    const table = json.resources.find((item: { name: string }) => item.name === 'guests')
    const hello = json.resources.find((item: { name: string }) => item.name === 'hello')
    expect(hello.config.resources).toEqual([{ resourceId: table.resourceId, access: 'readWrite' }])
  })

  test('applied again changes nothing, and a changed part changes alone', async () => {
    const { site, siteId } = await siteOf('again.test')
    await apply(siteId, DEFINITION)
    await site.synced()
    await site.call('mirror', 1)
    const again = await apply(siteId, DEFINITION)
    expect(new Set(again.changes.map(({ action }) => action))).toEqual(new Set(['none']))
    const [hello, mirror] = DEFINITION.operations
    const changed = await apply(siteId, {
      ...DEFINITION,
      operations: [hello, { ...mirror, cache: { ttlSeconds: 10 } }],
    })
    const updated = changed.changes.filter(({ action }) => action === 'update')
    expect(updated.map(({ name }) => name)).toEqual(['mirror'])
  })

  test('never deletes what it does not name', async () => {
    const { site, siteId } = await siteOf('kept.test')
    await apply(siteId, DEFINITION)
    await apply(siteId, { resources: [], operations: [] })
    const { json } = await site.admin('GET', '/resources')
    expect(json.resources).toHaveLength(2)
    expect(json.operations).toHaveLength(2)
  })

  test('is applied whole or not at all', async () => {
    const { site, siteId } = await siteOf('atomic.test')
    const operations = [...DEFINITION.operations, { operation: 'broken', lambdaResource: 'nobody' }]
    await expect(apply(siteId, { ...DEFINITION, operations })).rejects.toThrow(
      'operations[2].lambdaResource: resource "nobody"',
    )
    const { json } = await site.admin('GET', '/resources')
    expect(json).toMatchObject({ resources: [], operations: [] })
  })

  test.each([
    ['jobs, which are not served', { jobs: [] }, 'jobs: this section is not served'],
    ['an unknown section', { colours: [] }, 'colours: is not a known field'],
    ['no object', [], 'expected object'],
    [
      'a name twice',
      {
        operations: [
          { operation: 'a', preset: 'echo' },
          { operation: 'a', preset: 'echo' },
        ],
      },
      'operations[1]: "a" is defined twice',
    ],
    [
      'a fault in a config',
      { resources: [{ type: 'ddbTable', name: 'a', config: {} }] },
      'resources[0].config.partitionKey: is required',
    ],
    [
      'code that does not load',
      { resources: [{ type: 'lambdaFunction', name: 'a', config: { code: 'export default (' } }] },
      'resources[0].config.code: line 1',
    ],
    [
      'a grant on nothing',
      {
        resources: [
          {
            type: 'lambdaFunction',
            name: 'a',
            config: { code: 'export default 1', resources: [{ resource: 'no', access: 'read' }] },
          },
        ],
      },
      'resources[0].config.resources[0].resource: resource "no"',
    ],
  ])('is refused with %s, naming the place', async (_what, definition, words) => {
    const { siteId } = await stack.context.sites.find('atomic.test')
    await expect(apply(siteId, definition)).rejects.toThrow(words)
  })

  test('may not turn a resource into another type, nor change a key', async () => {
    const { siteId } = await siteOf('typed.test')
    await apply(siteId, DEFINITION)
    await expect(
      apply(siteId, { resources: [{ type: 's3Bucket', name: 'guests' }] }),
    ).rejects.toThrow('"guests" is a ddbTable already')
    const config = { partitionKey: { name: 'id', type: 'N' } }
    await expect(
      apply(siteId, { resources: [{ type: 'ddbTable', name: 'guests', config }] }),
    ).rejects.toThrow('never changes')
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
      buildYml: 'ARTIFACT_DIR: dist\n',
      files: files.map(({ text: _text, ...file }) => file),
    })
    for (const { sha256, text } of files) {
      if (!missing.includes(sha256)) continue
      await deployments.putFile(siteId, deploymentId, sha256, new Blob([text]).stream())
    }
    return deployments.activate(siteId, deploymentId)
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
      deploy(siteId, { ...ARTIFACT, 'croft.json': '{"groups":[]}', 'functions/hello.ts': '' }),
    ).rejects.toThrow('groups: this section is not served')
    await site.synced()
    expect((await site.call('hello', 'Ada')).json.data).toBe('Good day Ada')
  })
})
