import type { ScanRequest } from '#runtime/tables/api/action-fields.ts'
import { checkPresence } from '#runtime/tables/expressions/expressions.ts'
import { checkNestedPaths } from '#runtime/tables/expressions/key-rules.ts'
import { pathsIn } from '#runtime/tables/expressions/syntax.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { keyAttributes } from '#runtime/tables/items/key-schema.ts'
import { isWithin, restOf, segmentRange } from '#runtime/tables/store/key-range.ts'
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

const EXPRESSIONS = ['projectionExpression', 'filterExpression'] as const

interface Segment {
  readonly segment: number
  readonly total: number
}

export function readScan(request: ActionRequest<ScanRequest>): ItemPage {
  const { table, fields, expressions } = request
  checkIndexName(fields)
  checkPresence(fields, EXPRESSIONS)
  const start = readStartKey(fields)
  const { segment, total } = segmentOf(fields)
  const bound = expressions.bind(fields, EXPRESSIONS)
  checkSelect(fields)
  const source = sourceOf(request)
  checkStart(start, request, source)
  const whole = segmentRange(segment, total)
  const from = start && boundOf(start, table, source)
  if (from !== undefined && !isWithin(whole, from)) {
    throw validationError(
      'The provided starting key is invalid: Invalid ExclusiveStartKey. ' +
        'Please use ExclusiveStartKey with correct Segment. ' +
        `TotalSegments: ${total} Segment: ${segment}`,
    )
  }
  checkNestedPaths(bound.projection?.paths ?? [], table.schema)
  if (bound.filter !== undefined) checkNestedPaths(pathsIn(bound.filter), table.schema)
  const range = from === undefined ? whole : restOf(whole, from, true)
  return pageOf(request, source, bound, { range, forward: true })
}

/** The part of the table that a scan reads. */
export function segmentOf({ segment, totalSegments: total }: ScanRequest): Segment {
  if (segment !== undefined && total === undefined) {
    throw validationError(
      'The TotalSegments parameter is required but was not present in the request when Segment parameter is present',
    )
  }
  if (total === undefined) return { segment: 0, total: 1 }
  if (segment === undefined) {
    throw validationError(
      'The Segment parameter is required but was not present in the request when parameter TotalSegments is present',
    )
  }
  if (segment >= total) {
    throw validationError(
      'The Segment parameter is zero-based and must be less than parameter TotalSegments: ' +
        `Segment: ${segment} is not less than TotalSegments: ${total}`,
    )
  }
  return { segment, total }
}

function checkStart(
  start: Item | undefined,
  { table }: ActionRequest<ScanRequest>,
  source: Source,
): void {
  if (start === undefined) return
  if (Object.keys(start).length !== startKeyNames(table, source).length) {
    throw validationError(
      source.index === undefined
        ? 'The provided starting key is invalid: The provided key element does not match the schema'
        : 'The provided starting key is invalid',
    )
  }
  if (source.index === undefined) return
  for (const key of keyAttributes(source.keys)) checkStartAttribute(start, key, source.keys)
}
