import type { QueryRequest } from '#runtime/tables/api/action-fields.ts'
import type { BoundExpressions } from '#runtime/tables/expressions/expressions.ts'
import { checkPresence } from '#runtime/tables/expressions/expressions.ts'
import {
  type KeyRange,
  inSortRange,
  keyRangeOf,
  keyTermsOf,
} from '#runtime/tables/expressions/key-condition.ts'
import { checkFilterPaths, checkNestedPaths } from '#runtime/tables/expressions/key-rules.ts'
import { pathsIn } from '#runtime/tables/expressions/syntax.ts'
import { attributeOf, type Item } from '#runtime/tables/items/attribute-value.ts'
import { areEqual } from '#runtime/tables/items/equality.ts'
import { partitionHash } from '#runtime/tables/store/item-key.ts'
import { type Bound, partitionRange, restOf } from '#runtime/tables/store/key-range.ts'
import type { Table } from '#runtime/tables/table.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import type { ActionRequest } from './item-change.ts'
import {
  boundOf,
  checkIndexName,
  checkSelect,
  checkStartAttribute,
  type ItemPage,
  pageOf,
  readStartKey,
  type Source,
  sourceOf,
  startKeyNames,
} from './page.ts'

const EXPRESSIONS = ['projectionExpression', 'filterExpression', 'keyConditionExpression'] as const
const OUTSIDE = 'The provided starting key is outside query boundaries based on provided conditions'

export function readQuery(request: ActionRequest<QueryRequest>): ItemPage {
  const { table, fields, expressions } = request
  checkIndexName(fields)
  checkPresence(fields, EXPRESSIONS)
  const start = readStartKey(fields)
  const bound = expressions.bind(fields, EXPRESSIONS)
  const condition = bound.keyCondition
  if (condition === undefined) throw new TypeError('A query without a key condition')
  keyTermsOf(condition)
  checkSelect(fields)
  const source = sourceOf(request)
  if (start !== undefined && Object.keys(start).length !== startKeyNames(table, source).length) {
    throw validationError('The provided starting key is invalid')
  }
  const keyRange = keyRangeOf(condition, source.keys, (key) => {
    if (start !== undefined) checkStartAttribute(start, key, source.keys)
  })
  const forward = fields.scanIndexForward !== false
  const whole = partitionRange(partitionHash(keyRange.partition), keyRange.sort)
  const range =
    start === undefined
      ? whole
      : restOf(whole, boundWithin(start, keyRange, table, source), forward)
  checkPaths(bound, request, source)
  return pageOf(request, source, bound, { range, forward })
}

function checkPaths(
  { projection, filter }: BoundExpressions,
  { table }: ActionRequest<QueryRequest>,
  { keys }: Source,
): void {
  checkNestedPaths(projection?.paths ?? [], table.schema)
  if (filter === undefined) return
  checkFilterPaths(pathsIn(filter), keys)
  checkNestedPaths(pathsIn(filter), table.schema)
}

function boundWithin(start: Item, keyRange: KeyRange, table: Table, source: Source): Bound {
  const bound = boundOf(start, table, source)
  checkWithin(start, keyRange, source)
  return bound
}

function checkWithin(start: Item, { partition, sort }: KeyRange, { keys }: Source): void {
  const [hash, range] = [keys.partitionKey, keys.sortKey].map(
    (key) => key && attributeOf(start, key.name),
  )
  const samePartition = hash !== undefined && areEqual(hash, partition)
  if (sort === undefined) {
    if (!samePartition) throw validationError(OUTSIDE)
    return
  }
  if (range === undefined || !inSortRange(range, sort)) {
    throw validationError('The provided starting key does not match the range key predicate')
  }
  if (!samePartition) {
    throw validationError('The query can return at most one row and cannot be restarted')
  }
}
