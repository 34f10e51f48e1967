import { describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'

import { parseConfig, patchConfig } from './config.ts'
import type { Resource, ResourceType } from './model.ts'

const KEY = { name: 'id', type: 'S' }
const AT = new Date('2026-01-02T12:00:00.000Z')

function fault(check: () => unknown): { code: string; fields: string[]; message: string } {
  try {
    check()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const fields = (error.details ?? []).map(({ field }) => field)
    return { code: error.code, fields, message: error.message }
  }
  return { code: 'none', fields: [], message: '' }
}

const resource = (type: ResourceType, config: unknown): Resource => ({
  resourceId: 'res_1',
  name: 'it',
  createdAt: AT,
  updatedAt: AT,
  ...parseConfig(type, config),
})

describe('the config of a resource', () => {
  test('of a function gets its defaults', () => {
    expect(parseConfig('lambdaFunction', { code: 'export default () => 1' }).config).toEqual({
      code: 'export default () => 1',
      handler: 'default',
      timeoutSeconds: 15,
      memoryMb: 128,
      environment: [],
      resources: [],
    })
  })

  test('of a table may have every part', () => {
    const config = {
      partitionKey: KEY,
      sortKey: { name: 'at', type: 'N' },
      ttlAttribute: 'expires',
      globalSecondaryIndexes: [{ name: 'by-at', partitionKey: { name: 'at', type: 'N' } }],
    }
    expect(parseConfig('ddbTable', config).config).toEqual(config)
  })

  test.each([
    ['no table key', 'ddbTable', {}, 'config.partitionKey'],
    [
      'a key type of its own',
      'ddbTable',
      { partitionKey: { name: 'id', type: 'X' } },
      'config.partitionKey.type',
    ],
    ['the same attribute twice', 'ddbTable', { partitionKey: KEY, sortKey: KEY }, 'config.sortKey'],
    [
      'two types of one attribute',
      'ddbTable',
      {
        partitionKey: KEY,
        globalSecondaryIndexes: [{ name: 'abc', partitionKey: { name: 'id', type: 'N' } }],
      },
      'config.globalSecondaryIndexes[0]',
    ],
    [
      'an index twice',
      'ddbTable',
      {
        partitionKey: KEY,
        globalSecondaryIndexes: [
          { name: 'abc', partitionKey: KEY },
          { name: 'abc', partitionKey: KEY },
        ],
      },
      'config.globalSecondaryIndexes[1].indexName',
    ],
    [
      'expiry by a key',
      'ddbTable',
      { partitionKey: KEY, ttlAttribute: 'id' },
      'config.ttlAttribute',
    ],
    ['an unknown field', 's3Bucket', { versioning: true }, 'config.versioning'],
    ['neither code nor artifact', 'lambdaFunction', {}, 'config'],
    ['both code and artifact', 'lambdaFunction', { code: 'x', artifact: 'a.ts' }, 'config'],
    ['code over 1 MiB', 'lambdaFunction', { code: 'é'.repeat(600_000) }, 'config.code'],
    ['NUL in code', 'lambdaFunction', { code: 'a\0' }, 'config.code'],
    [
      'an artifact above the root',
      'lambdaFunction',
      { artifact: 'a/../../b.ts' },
      'config.artifact',
    ],
    ['an absolute artifact', 'lambdaFunction', { artifact: '/etc/passwd' }, 'config.artifact'],
    ['a backslash', 'lambdaFunction', { artifact: 'a\\..\\b.ts' }, 'config.artifact'],
    ['no time', 'lambdaFunction', { code: 'x', timeoutSeconds: 0 }, 'config.timeoutSeconds'],
    [
      'too much time',
      'lambdaFunction',
      { code: 'x', timeoutSeconds: 901 },
      'config.timeoutSeconds',
    ],
    ['too little memory', 'lambdaFunction', { code: 'x', memoryMb: 15 }, 'config.memoryMb'],
    ['half a megabyte', 'lambdaFunction', { code: 'x', memoryMb: 16.5 }, 'config.memoryMb'],
    ['a wild handler', 'lambdaFunction', { code: 'x', handler: 'a.b' }, 'config.handler'],
    [
      'a grant of its own kind',
      'lambdaFunction',
      { code: 'x', resources: [{ resourceId: 'r', access: 'own' }] },
      'config.resources[0].access',
    ],
    [
      'a grant twice',
      'lambdaFunction',
      {
        code: 'x',
        resources: [
          { resourceId: 'r', access: 'read' },
          { resourceId: 'r', access: 'write' },
        ],
      },
      'config.resources[1].resourceId',
    ],
    ['no object', 's3Bucket', 'all', 'config'],
  ] as const)('is refused with %s, naming the field', (_what, type, config, field) => {
    const found = fault(() => parseConfig(type, config))
    expect(found.code).toBe('ValidationError')
    expect(found.fields).toContain(field)
  })

  test('says which words a choice has', () => {
    const found = fault(() => parseConfig('ddbTable', { partitionKey: { name: 'a', type: 'X' } }))
    expect(found.message).toBe('config.partitionKey.type: must be one of "S", "N", "B"')
  })
})

describe('a patch of a config', () => {
  const before = resource('lambdaFunction', { code: 'x', memoryMb: 64, timeoutSeconds: 3 })

  test('leaves alone what it does not name', () => {
    expect(patchConfig(before, { memoryMb: 256 }).config).toMatchObject({
      code: 'x',
      memoryMb: 256,
      timeoutSeconds: 3,
    })
  })

  test('puts an artifact in the place of code, and takes away with null', () => {
    const after = patchConfig(before, { artifact: 'a.ts', memoryMb: null }).config
    expect(after).toMatchObject({ artifact: 'a.ts', memoryMb: 128 })
    expect(after).not.toHaveProperty('code')
  })

  test('never changes the keys of a table', () => {
    const table = resource('ddbTable', { partitionKey: KEY })
    const changed = { partitionKey: { name: 'id', type: 'N' } }
    expect(fault(() => patchConfig(table, changed)).code).toBe('ImmutableField')
    expect(fault(() => patchConfig(table, { sortKey: { name: 'at', type: 'N' } })).code).toBe(
      'ImmutableField',
    )
    expect(patchConfig(table, { ttlAttribute: 'gone' }).config).toMatchObject({
      ttlAttribute: 'gone',
    })
  })

  test('is refused when it is no object', () => {
    expect(fault(() => patchConfig(before, [1])).fields).toEqual(['config'])
  })
})
