import { expect, test } from 'vitest'

import { addRequest, changedNames, isOtherKey, updateRequest } from './item-change.ts'
import type { KeySchema } from './table-shape.ts'

const SCHEMA: KeySchema = {
  partitionKey: { name: 'buyer', type: 'S' },
  sortKey: { name: 'at', type: 'N' },
}
const SHOWN = { buyer: 'vic', at: 1, total: { $number: '9007199254740993' }, note: 'x' }

test('names the changed attributes alone, and holds each to the value that was shown', () => {
  expect(updateRequest(SCHEMA, SHOWN, { ...SHOWN, note: 'y', paid: true })).toEqual({
    key: { buyer: 'vic', at: 1 },
    updateExpression: 'SET #n1 = :v0, #n2 = :v2',
    conditionExpression: 'attribute_exists(#n0) AND #n1 = :v1 AND attribute_not_exists(#n2)',
    expressionAttributeNames: { '#n0': 'buyer', '#n1': 'note', '#n2': 'paid' },
    expressionAttributeValues: { ':v0': 'y', ':v1': 'x', ':v2': true },
  })
})

test('removes what the edited item lacks', () => {
  const { note: _, ...edited } = SHOWN
  expect(updateRequest(SCHEMA, SHOWN, edited)).toEqual({
    key: { buyer: 'vic', at: 1 },
    updateExpression: 'REMOVE #n1',
    conditionExpression: 'attribute_exists(#n0) AND #n1 = :v0',
    expressionAttributeNames: { '#n0': 'buyer', '#n1': 'note' },
    expressionAttributeValues: { ':v0': 'x' },
  })
})

test('makes no request where nothing is changed', () => {
  expect(updateRequest(SCHEMA, SHOWN, { ...SHOWN })).toBeUndefined()
  expect(changedNames(SHOWN, { ...SHOWN, at: 2 })).toEqual(['at'])
})

test('puts only where the key is free', () => {
  expect(addRequest(SCHEMA, SHOWN)).toEqual({
    item: SHOWN,
    conditionExpression: 'attribute_not_exists(#n0)',
    expressionAttributeNames: { '#n0': 'buyer' },
  })
})

test('tells another key from another value', () => {
  expect(isOtherKey(SCHEMA, SHOWN, { ...SHOWN, note: 'y' })).toBe(false)
  expect(isOtherKey(SCHEMA, SHOWN, { ...SHOWN, at: 2 })).toBe(true)
})
