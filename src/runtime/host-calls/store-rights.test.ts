import { describe, expect, test } from 'vitest'

import { gives, neededAccess, type StoreAction } from './store-rights.ts'

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

describe('the access that an action needs', () => {
  test.each(CASES)('%s with %j is %s', (action, input, needed) => {
    expect(neededAccess(action, input)).toBe(needed)
  })

  test('is given by itself and by both', () => {
    expect(gives('read', 'read')).toBe(true)
    expect(gives('readWrite', 'read')).toBe(true)
    expect(gives('readWrite', 'readWrite')).toBe(true)
    expect(gives('read', 'write')).toBe(false)
    expect(gives('write', 'read')).toBe(false)
    expect(gives('write', 'readWrite')).toBe(false)
  })
})
