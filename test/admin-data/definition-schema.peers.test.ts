import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CODE = 'export default () => 1'
const FN = { type: 'lambdaFunction', name: 'fn', config: { code: CODE } }
const TABLE = { type: 'ddbTable', name: 'notes' }
const KEY = { name: 'id', type: 'S' }
const BUCKET = { type: 's3Bucket', name: 'files' }
const CALL = { operation: 'call', lambdaResource: 'fn' }
const GET = { operation: 'get', preset: 'ddb.get', resource: 'notes' }

let stack: Stack
let site: RuntimeSite
let isValid: (definition: unknown) => boolean
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  const schema = JSON.parse(await readFile(join(ROOT, 'types/croft.schema.json'), 'utf8'))
  isValid = new Ajv({ strict: true, strictRequired: false, strictTypes: false }).compile(schema)
})
afterAll(() => stack[Symbol.asyncDispose]())

/** Whether the service takes it. */
async function isTaken(definition: object): Promise<boolean> {
  const { status, json } = await site.admin('POST', '/iac/jobs', { mode: 'plan', definition })
  expect([200, 400], JSON.stringify(json)).toContain(status)
  return status === 200
}

const index = (fields: object) => ({
  ...TABLE,
  config: { partitionKey: KEY, globalSecondaryIndexes: [{ partitionKey: KEY, ...fields }] },
})

const VALID: readonly [string, object][] = [
  ['empty', {}],
  ['a schema', { $schema: './croft.schema.json' }],
  [
    'a variable',
    { envVars: [{ name: 'A', value: 'b', secret: true, storageBackend: 'ssmSecureString' }] },
  ],
  [
    'a variable that is no secret',
    { envVars: [{ name: 'A', value: 'b', storageBackend: 'ssmString' }] },
  ],
  ['a group', { groups: [{ groupName: 'staff', description: 'Those who work here' }] }],
  ['an item renamed', { groups: [{ groupName: 'staff', renamedFrom: 'team' }] }],
  ['a table by its name', { resources: [TABLE] }],
  ['an index', { resources: [index({ indexName: 'by-id', projection: 'KEYS_ONLY' })] }],
  ['an index by name', { resources: [index({ name: 'by-id', projection: 'ALL' })] }],
  [
    'an index of DynamoDB',
    {
      resources: [
        index({
          indexName: 'by-id',
          projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['a'] },
        }),
      ],
    },
  ],
  ['a bucket', { resources: [BUCKET] }],
  ['a bucket with bounds', { resources: [{ ...BUCKET, config: { maxObjectBytes: 5 } }] }],
  [
    'a function with all fields',
    {
      envVars: [{ name: 'A', value: 'b' }],
      resources: [
        TABLE,
        {
          ...FN,
          config: {
            code: CODE,
            handler: 'default',
            timeoutSeconds: 0.5,
            memoryMb: 64,
            environment: ['A'],
            resources: [{ resource: 'notes', access: 'readWrite' }],
          },
        },
      ],
    },
  ],
  [
    'operations of a function',
    {
      groups: [{ groupName: 'staff' }],
      resources: [FN],
      operations: [
        { ...CALL, auth: { mode: 'groups', groups: ['staff'], scopes: ['a'] } },
        { operation: 'site', lambdaResource: 'fn', http: true, auth: { mode: 'public' } },
        {
          operation: 'kept',
          lambdaResource: 'fn',
          cache: { ttlSeconds: 5 },
          input: true,
          output: {},
        },
      ],
    },
  ],
  [
    'operations of presets',
    {
      resources: [TABLE, BUCKET],
      operations: [
        { ...GET, allowed: ['key'] },
        { operation: 'echo', preset: 'echo' },
        { operation: 'mine', preset: 's3.list-objects', resource: 'files', owner: true },
      ],
    },
  ],
  [
    'jobs',
    {
      resources: [FN],
      operations: [CALL],
      jobs: [
        {
          jobId: 'nightly',
          operation: 'call',
          payload: [1],
          schedule: { cron: '0 3 * * *', timezone: 'Europe/Berlin' },
          auth: { mode: 'system' },
          enabled: false,
        },
        { name: 'by-hand', operation: 'call', schedule: null },
      ],
    },
  ],
]

const WRONG: readonly [string, object][] = [
  ['a section that is not known', { functions: [] }],
  ['a schema that is no text', { $schema: 1 }],
  ['a section that is no list', { groups: {} }],
  ['a variable without a name', { envVars: [{ value: 'a' }] }],
  ['a variable with a wrong name', { envVars: [{ name: '1A', value: 'a' }] }],
  ['a variable with a number', { envVars: [{ name: 'A', value: 1 }] }],
  [
    'a secret in the open',
    { envVars: [{ name: 'A', value: 'a', secret: true, storageBackend: 'ssmString' }] },
  ],
  ['a variable of the service', { envVars: [{ name: 'CROFT_A', value: 'a' }] }],
  ['another storage', { envVars: [{ name: 'A', storageBackend: 'file' }] }],
  ['a variable renamed', { envVars: [{ name: 'A', value: 'a', renamedFrom: 'B' }] }],
  ['a group without a name', { groups: [{}] }],
  ['an empty name before', { groups: [{ groupName: 'a', renamedFrom: '' }] }],
  ['another type of resource', { resources: [{ ...TABLE, type: 'table' }] }],
  ['a resource with a wrong name', { resources: [{ ...TABLE, name: 'a b' }] }],
  ['a table without a partition key', { resources: [{ ...TABLE, config: {} }] }],
  [
    'another type of key',
    { resources: [{ ...TABLE, config: { partitionKey: { name: 'id', type: 'X' } } }] },
  ],
  ['an index without a name', { resources: [index({})] }],
  ['an index with two names', { resources: [index({ name: 'abc', indexName: 'abc' })] }],
  ['another projection', { resources: [index({ name: 'abc', projection: 'SOME' })] }],
  ['a bucket of no bytes', { resources: [{ ...BUCKET, config: { maxObjectBytes: 0 } }] }],
  ['a bucket with keys', { resources: [{ ...BUCKET, config: { partitionKey: KEY } }] }],
  ['a function without code', { resources: [{ ...FN, config: {} }] }],
  ['a function without a config', { resources: [{ type: 'lambdaFunction', name: 'fn' }] }],
  [
    'a function with code twice',
    { resources: [{ ...FN, config: { code: CODE, artifact: 'a.js' } }] },
  ],
  ['too much time', { resources: [{ ...FN, config: { code: CODE, timeoutSeconds: 901 } }] }],
  ['half a megabyte', { resources: [{ ...FN, config: { code: CODE, memoryMb: 16.5 } }] }],
  [
    'another access',
    {
      resources: [
        TABLE,
        { ...FN, config: { code: CODE, resources: [{ resource: 'notes', access: 'all' }] } },
      ],
    },
  ],
  ['an operation of nothing', { operations: [{ operation: 'a' }] }],
  ['an operation of two', { resources: [FN, TABLE], operations: [{ ...GET, ...CALL }] }],
  ['a reserved operation', { resources: [FN], operations: [{ ...CALL, operation: 'auth' }] }],
  ['another preset', { resources: [TABLE], operations: [{ ...GET, preset: 'ddb.got' }] }],
  ['fields of a preset', { resources: [FN], operations: [{ ...CALL, allowed: ['key'] }] }],
  ['an owner that is false', { resources: [TABLE], operations: [{ ...GET, owner: false }] }],
  [
    'groups that are not named',
    { resources: [FN], operations: [{ ...CALL, auth: { mode: 'groups' } }] },
  ],
  [
    'groups that have no meaning',
    {
      groups: [{ groupName: 'a' }],
      resources: [FN],
      operations: [{ ...CALL, auth: { mode: 'public', groups: ['a'] } }],
    },
  ],
  ['too long a cache', { resources: [FN], operations: [{ ...CALL, cache: { ttlSeconds: 3601 } }] }],
  [
    'a schema of a payload that is text',
    { resources: [FN], operations: [{ ...CALL, input: 'a' }] },
  ],
  ['a job without a name', { resources: [FN], operations: [CALL], jobs: [{ operation: 'call' }] }],
  ['a job without an operation', { jobs: [{ jobId: 'a' }] }],
  [
    'a schedule that is text',
    {
      resources: [FN],
      operations: [CALL],
      jobs: [{ jobId: 'a', operation: 'call', schedule: '* * * * *' }],
    },
  ],
  [
    'a job that runs as another',
    {
      resources: [FN],
      operations: [CALL],
      jobs: [{ jobId: 'a', operation: 'call', auth: { mode: 'admin' } }],
    },
  ],
]

describe('the schema of croft.json', () => {
  test.each(VALID)('takes %s, as the service does', async (_what, definition) => {
    expect({ schema: isValid(definition), service: await isTaken(definition) }).toEqual({
      schema: true,
      service: true,
    })
  })

  test.each(WRONG)('refuses %s, as the service does', async (_what, definition) => {
    expect({ schema: isValid(definition), service: await isTaken(definition) }).toEqual({
      schema: false,
      service: false,
    })
  })

  test.each(['examples/hello-site/site/croft.json', 'test/cli/packages/site/croft.json'])(
    'takes %s',
    async (path) => {
      expect(isValid(JSON.parse(await readFile(join(ROOT, path), 'utf8')))).toBe(true)
    },
  )

  test.each<[boolean, object]>([
    [true, { directory: 'public', cleanUrls: false, spa: '/app.html' }],
    [true, { spa: true }],
    [false, { spa: 'app.html' }],
    [false, { folder: 'public' }],
  ])('is %s of the static files %j', (expected, section) => {
    expect(isValid({ static: section })).toBe(expected)
  })
})
