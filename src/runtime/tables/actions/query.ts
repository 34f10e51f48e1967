import type { BoundExpressions } from '#runtime/tables/expressions/expressions.ts'
import {
  type KeyRange,
  inSortRange,
  keyRangeOf,
} from '#runtime/tables/expressions/key-condition.ts'
import { checkFilterPaths, checkNestedPaths } from '#runtime/tables/expressions/key-rules.ts'
import { keyTermsOf } from '#runtime/tables/expressions/key-terms.ts'
import { invalidRequest } from '#runtime/tables/fault.ts'
import { attributeOf, type Item } from '#runtime/tables/items/attribute-value.ts'
import { sameValue } from '#runtime/tables/items/equality.ts'
import { partitionHash } from '#runtime/tables/store/item-key.ts'
import {
  type Bound,
  partitionRange,
  restOf,
  type StoredRange,
} from '#runtime/tables/store/key-range.ts'

import { type ActionRequest, bindExpressions, checkRequest } from './action.ts'
import {
  boundOf,
  checkStartAttribute,
  checkSelect,
  type ItemPage,
  limitOf,
  pageAnswer,
  readStartKey,
  type Source,
  sourceOf,
  startKeyNames,
} from './page-request.ts'
import { QUERY } from './parameter-rules.ts'
import { flag, text } from './parameters.ts'

const PARAMETERS = ['ProjectionExpression', 'FilterExpression', 'KeyConditionExpression'] as const
const OUTSIDE = 'The provided starting key is outside query boundaries based on provided conditions'

export function readQuery(request: ActionRequest): ItemPage {
  checkRequest(request, QUERY, PARAMETERS)
  const start = readStartKey(request)
  if (text(request.body, 'KeyConditionExpression') === undefined) {
    throw invalidRequest(
      'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
    )
  }
  const bound = bindExpressions(request, PARAMETERS)
  const condition = bound.keyCondition?.condition
  if (condition === undefined) throw new TypeError('A query without a key condition')
  keyTermsOf(condition)
  checkSelect(request)
  const source = sourceOf(request)
  checkStartCount(start, request, source)
  const keyRange = keyRangeOf(condition, source.keys, (key) => {
    if (start !== undefined) checkStartAttribute(start, key, source.keys)
  })
  const forward = flag(request.body, 'ScanIndexForward') !== false
  const range = rangeOf(keyRange, source, {
    forward,
    start: start && { item: start, bound: boundOf(start, request.table, source) },
  })
  checkPaths(bound, request, source)
  return {
    request: {
      ...(source.index !== undefined && { index: source.index }),
      range,
      forward,
      limit: limitOf(request),
    },
    answer: pageAnswer(request, source, bound),
  }
}

function rangeOf(
  keyRange: KeyRange,
  source: Source,
  from: {
    readonly forward: boolean
    readonly start: { readonly item: Item; readonly bound: Bound } | undefined
  },
): StoredRange {
  const whole = partitionRange(partitionHash(keyRange.partition), keyRange.sort)
  if (from.start === undefined) return whole
  checkWithin(from.start.item, keyRange, source)
  return restOf(whole, from.start.bound, from.forward)
}

function checkPaths(
  { projection, filter }: BoundExpressions,
  { table }: ActionRequest,
  { keys }: Source,
): void {
  checkNestedPaths(projection?.paths ?? [], table.schema)
  checkFilterPaths(filter?.paths ?? [], keys)
  checkNestedPaths(filter?.paths ?? [], table.schema)
}

function checkStartCount(start: Item | undefined, { table }: ActionRequest, source: Source): void {
  if (start === undefined) return
  if (Object.keys(start).length !== startKeyNames(table, source).length) {
    throw invalidRequest('The provided starting key is invalid')
  }
}

function checkWithin(start: Item, { partition, sort }: KeyRange, { keys }: Source): void {
  const [hash, range] = [keys.partitionKey, keys.sortKey].map(
    (key) => key && attributeOf(start, key.name),
  )
  const samePartition = hash !== undefined && sameValue(hash, partition)
  if (sort === undefined) {
    if (!samePartition) throw invalidRequest(OUTSIDE)
    return
  }
  if (range === undefined || !inSortRange(range, sort)) {
    throw invalidRequest('The provided starting key does not match the range key predicate')
  }
  if (!samePartition) {
    throw invalidRequest('The query can return at most one row and cannot be restarted')
  }
}
