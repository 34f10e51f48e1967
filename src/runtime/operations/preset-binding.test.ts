import { describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'
import type { Resource } from '#runtime/resources/model.ts'
import { parseShape } from '#runtime/shape.ts'

import { PutOperation, parseOperation } from './model.ts'
import { allowedFields, parsePreset } from './preset-binding.ts'
import { checkPresetResource } from './preset-rules.ts'

const at = new Date()
const table = (config: object): Resource => ({
  type: 'ddbTable',
  resourceId: 'res_t',
  name: 'notes',
  config: { partitionKey: { name: 'id', type: 'S' }, ...config },
  createdAt: at,
  updatedAt: at,
})
const NOTES = table({
  globalSecondaryIndexes: [{ name: 'byTeam', partitionKey: { name: 'team', type: 'N' } }],
})
const BUCKET: Resource = { ...NOTES, type: 's3Bucket', name: 'files', config: {} }

/** As its route reads it, then as it is held against its resource. */
function bound(preset: object, { rest = {}, resource = NOTES as Resource | null } = {}) {
  const input = {
    operation: 'op',
    preset: { resourceId: 'res_t', ...preset },
    ...rest,
  }
  const { preset: binding } = parseOperation(parseShape(PutOperation, input))
  if (binding) checkPresetResource(binding, resource ?? undefined)
  return binding
}

function faultOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof AppError) return `${error.code} ${error.message}`
    throw error
  }
  return 'none'
}

describe('a preset', () => {
  test.each<[string, object, object, Resource | null, RegExp]>([
    [
      'no resource',
      { preset: 'ddb.get', resourceId: undefined },
      {},
      NOTES,
      /preset\.resourceId: is required/,
    ],
    ['a resource that is not there', { preset: 'ddb.get' }, {}, null, /"res_t" does not exist/],
    ['a bucket for a table', { preset: 'ddb.get' }, {}, BUCKET, /"files" is a s3Bucket/],
    ['a table for a bucket', { preset: 's3.get-object' }, {}, NOTES, /works on a s3Bucket/],
    ['a name that is nearly one', { preset: 'ddb.gte' }, {}, NOTES, /did you mean "ddb\.get"/],
    [
      'a field that is none',
      { preset: 'ddb.get', fixed: { limit: 1 } },
      {},
      NOTES,
      /preset\.fixed\.limit/,
    ],
    [
      'a value that is none',
      { preset: 'ddb.query', fixed: { limit: 0 } },
      {},
      NOTES,
      /whole number/,
    ],
    [
      'a fixed place in a list',
      { preset: 'ddb.scan', fixed: { nextToken: 'x' } },
      {},
      NOTES,
      /cannot be fixed/,
    ],
    [
      'an unknown field for callers',
      { preset: 'ddb.get', allowed: ['key', 'Key'] },
      {},
      NOTES,
      /preset\.allowed\[1\]/,
    ],
    [
      'a field that is fixed and free',
      { preset: 'ddb.scan', fixed: { limit: 1 }, allowed: ['limit'] },
      {},
      NOTES,
      /"limit" is fixed/,
    ],
    [
      'a query of an owner’s items without a condition',
      { preset: 'ddb.query', owner: { attribute: 'author' } },
      {},
      NOTES,
      /fixed\.keyConditionExpression: is required/,
    ],
    [
      'an update of nothing',
      { preset: 'ddb.update', allowed: ['key'] },
      {},
      NOTES,
      /fixed\.updateExpression: is required/,
    ],
    [
      'no way to name a key',
      { preset: 'ddb.get', allowed: [] },
      {},
      NOTES,
      /fixed\.key: is required/,
    ],
    [
      'a prefix for a table',
      { preset: 'ddb.get', owner: { prefix: 'a' } },
      {},
      NOTES,
      /preset\.owner: of a table/,
    ],
    [
      'an attribute for a bucket',
      { preset: 's3.get-object', owner: { attribute: 'a' } },
      {},
      BUCKET,
      /of a bucket/,
    ],
    [
      'a crooked prefix',
      { preset: 's3.get-object', owner: { prefix: 'a/../b' } },
      {},
      BUCKET,
      /preset\.owner\.prefix/,
    ],
    [
      'an owner and no caller',
      { preset: 'ddb.get', owner: { attribute: 'o' } },
      { auth: { mode: 'public' } },
      NOTES,
      /preset\.owner: needs a caller/,
    ],
    [
      'an owner in a number',
      { preset: 'ddb.get', owner: { attribute: 'team' } },
      {},
      NOTES,
      /preset\.owner\.attribute: "team" is a key of type N/,
    ],
    [
      'an owner and what shows another’s item',
      {
        preset: 'ddb.put',
        owner: { attribute: 'o' },
        fixed: { returnValuesOnConditionCheckFailure: 'ALL_OLD' },
      },
      {},
      NOTES,
      /returnValuesOnConditionCheckFailure/,
    ],
    [
      'an owner and a place of the caller’s choice',
      { preset: 'ddb.scan', owner: { attribute: 'o' }, allowed: ['exclusiveStartKey'] },
      {},
      NOTES,
      /exclusiveStartKey/,
    ],
    [
      'a write that is kept',
      { preset: 'ddb.put' },
      { cache: { ttlSeconds: 5 } },
      NOTES,
      /cache\.ttlSeconds: must be 0/,
    ],
    [
      'a URL that is kept',
      { preset: 's3.presign-get-object' },
      { cache: { ttlSeconds: 5 } },
      BUCKET,
      /cache\.ttlSeconds: must be 0/,
    ],
    [
      'echo and an owner',
      { preset: 'echo', resourceId: undefined, owner: true },
      {},
      NOTES,
      /no meaning/,
    ],
  ])('is refused with %s', (_what, preset, rest, resource, words) => {
    expect(faultOf(() => bound(preset, { rest, resource }))).toMatch(words)
  })

  test('is stored as it was given, its owner in one form', () => {
    expect(bound({ preset: 'ddb.get' })).toEqual({ preset: 'ddb.get', resourceId: 'res_t' })
    const own = { owner: true }
    expect(bound({ preset: 's3.get-object', ...own }, { resource: BUCKET })).toMatchObject({
      owner: { prefix: '' },
    })
    expect(
      bound({ preset: 's3.get-object', owner: { prefix: 'a/b' } }, { resource: BUCKET }),
    ).toMatchObject({ owner: { prefix: 'a/b/' } })
  })

  test('of a partition’s owner needs neither key nor condition', () => {
    const owner = { attribute: 'id' }
    for (const preset of ['ddb.query', 'ddb.get', 'ddb.delete']) {
      expect(bound({ preset, owner, allowed: [] })).toMatchObject({ preset })
    }
  })
})

describe('what callers may send', () => {
  test.each<[string, object, string[]]>([
    [
      'a get',
      { preset: 'ddb.get' },
      ['key', 'projectionExpression', 'consistentRead', 'expressionAttributeNames'],
    ],
    [
      'a get that shows some attributes',
      { preset: 'ddb.get', fixed: { projectionExpression: 'a' } },
      ['key', 'consistentRead'],
    ],
    [
      'a query',
      { preset: 'ddb.query', fixed: { keyConditionExpression: 'id = :id' } },
      ['limit', 'scanIndexForward', 'nextToken', 'expressionAttributeValues'],
    ],
    ['a scan', { preset: 'ddb.scan' }, ['limit', 'nextToken']],
    [
      'an update that is fixed',
      { preset: 'ddb.update', fixed: { updateExpression: 'SET a = :a' } },
      ['key', 'expressionAttributeValues'],
    ],
    ['a put with a fixed entry', { preset: 'ddb.put', fixed: { item: { a: 1 } } }, ['item']],
    ['what is said', { preset: 'ddb.scan', allowed: ['filterExpression'] }, ['filterExpression']],
  ])('to %s is what names things, not what decides', (_what, preset, fields) => {
    const input = parseShape(PutOperation, {
      operation: 'op',
      preset: { resourceId: 'r', ...preset },
    })
    expect(input.preset && allowedFields(parsePreset(input.preset))).toEqual(fields)
  })

  test('to a query of which nothing is said is what the action takes', () => {
    expect(allowedFields({ preset: 'ddb.query', resourceId: 'r' })).toEqual([
      'keyConditionExpression',
      'filterExpression',
      'projectionExpression',
      'indexName',
      'limit',
      'scanIndexForward',
      'select',
      'exclusiveStartKey',
      'nextToken',
      'expressionAttributeNames',
      'expressionAttributeValues',
    ])
  })

  test.each([{}, { owner: { attribute: 'author' } }])(
    'to an update of which nothing is said (%o) is what the action takes',
    (rest) => {
      expect(allowedFields({ preset: 'ddb.update', resourceId: 'r', ...rest })).toEqual([
        'key',
        'updateExpression',
        'conditionExpression',
        'returnValues',
        'expressionAttributeNames',
        'expressionAttributeValues',
      ])
    },
  )
})
