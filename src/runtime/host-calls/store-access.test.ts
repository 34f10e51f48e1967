import { describe, expect, test } from 'vitest'

import { allows, neededAccess, type StoreAction } from './store-access.ts'

const CASES: readonly (readonly [StoreAction, unknown, string])[] = [
  ['get', {}, 'read'],
  ['query', { returnValues: 'ALL_OLD' }, 'read'],
  ['batch-get', {}, 'read'],
  ['get-object', {}, 'read'],
  ['presign-get-object', {}, 'read'],
  ['put-object', {}, 'write'],
  ['presign-put-object', {}, 'write'],
  ['put', { item: { returnValues: 'ALL_OLD' } }, 'write'],
  ['put', { returnValues: 'NONE' }, 'write'],
  ['put', { returnValues: null }, 'write'],
  ['put', { returnValues: 'ALL_OLD' }, 'readWrite'],
  ['update', { ReturnValues: 'UPDATED_NEW' }, 'readWrite'],
  ['update', { returnValues: null, ReturnValues: 'ALL_NEW' }, 'readWrite'],
  ['delete', { returnValuesOnConditionCheckFailure: 'ALL_OLD' }, 'readWrite'],
  ['transact-write', { actions: [{ put: { item: {} } }] }, 'write'],
  ['transact-write', { actions: 'none' }, 'write'],
  [
    'transact-write',
    {
      Actions: [
        { put: {} },
        { ConditionCheck: { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } },
      ],
    },
    'readWrite',
  ],
  ['put', null, 'write'],
  ['put', 'text', 'write'],
]

const SCHEMA = {
  partitionKey: { name: 'id', type: 'S' },
  sortKey: { name: 'part', type: 'N' },
} as const
const on = (conditionExpression: unknown, names?: object, rest: object = {}) => ({
  conditionExpression,
  ...(names && { expressionAttributeNames: names }),
  ...rest,
})

const CONDITIONS: readonly (readonly [StoreAction, unknown, string])[] = [
  ['put', on('attribute_not_exists(id)'), 'write'],
  ['update', on('attribute_exists(#k) AND (part > :n OR NOT id = :i)', { '#k': 'id' }), 'write'],
  ['put', on(null), 'write'],
  ['put', on('attribute_not_exists('), 'write'],
  ['put', on(':a = :b'), 'write'],
  ['put', on('attribute_not_exists(note)'), 'readWrite'],
  [
    'delete',
    on('id = :i AND NOT (part = :n OR begins_with(#t, :p))', { '#t': 'note' }),
    'readWrite',
  ],
  ['update', on('size(note) BETWEEN :a AND :b'), 'readWrite'],
  ['update', on(':v IN (id, note)'), 'readWrite'],
  ['update', on(':v = id.note'), 'readWrite'],
  ['update', on('id = note[0]'), 'readWrite'],
  ['put', { ConditionExpression: 'note = :v' }, 'readWrite'],
  ['put', { conditionExpression: null, ConditionExpression: 'note = :v' }, 'readWrite'],
  [
    'put',
    on('#k = :v', { '#k': 'id' }, { ExpressionAttributeNames: { '#k': 'note' } }),
    'readWrite',
  ],
  ['put', on('#constructor = :v', {}), 'write'],
  ['transact-write', { actions: [{ put: on('attribute_not_exists(id)') }] }, 'write'],
  ['transact-write', { actions: [{ put: {} }, { conditionCheck: on('note = :v') }] }, 'readWrite'],
  ['transact-write', { Actions: [{ Delete: { ConditionExpression: 'note = :v' } }] }, 'readWrite'],
  ['query', on('note = :v'), 'read'],
]

describe('the access that a condition needs', () => {
  test.each(CONDITIONS)('%s with %j is %s', (action, input, needed) => {
    expect(neededAccess(action, input, SCHEMA)).toBe(needed)
  })
})

describe('the access that an action needs', () => {
  test.each(CASES)('%s with %j is %s', (action, input, needed) => {
    expect(neededAccess(action, input)).toBe(needed)
  })

  test('is given by itself and by both', () => {
    expect(allows('read', 'read')).toBe(true)
    expect(allows('readWrite', 'read')).toBe(true)
    expect(allows('readWrite', 'readWrite')).toBe(true)
    expect(allows('read', 'write')).toBe(false)
    expect(allows('write', 'read')).toBe(false)
    expect(allows('write', 'readWrite')).toBe(false)
  })
})
