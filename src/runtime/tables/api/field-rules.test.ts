import { describe, expect, test } from 'vitest'

import { BUCKET_FIELDS } from '#runtime/operations/bucket-fields.ts'

import { ACTION_FIELDS } from './action-fields.ts'

const wide = (entries: number) =>
  Object.fromEntries(Array.from({ length: entries }, (_, at) => [`k${at}`, 'v']))

describe('a field that is a map', () => {
  test.each([
    ['a key', ACTION_FIELDS.get.required.key, 64],
    ['a start key', ACTION_FIELDS.scan.optional.exclusiveStartKey, 64],
    ['names', ACTION_FIELDS.scan.optional.expressionAttributeNames, 4096],
    ['values', ACTION_FIELDS.update.optional.expressionAttributeValues, 4096],
    ['metadata', BUCKET_FIELDS['put-object'].metadata, 1024],
  ])('such as %s has so many entries that each may be read', (_what, rule, most) => {
    expect(rule(wide(most))).toBeUndefined()
    expect(rule(wide(most + 1))).toBe(`must have at most ${most} entries`)
    expect(rule(['v'])).toMatch(/^must be a JSON object/)
  })
})
