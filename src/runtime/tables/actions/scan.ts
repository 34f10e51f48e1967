import { checkNestedPaths } from '#runtime/tables/expressions/key-rules.ts'
import { invalidRequest } from '#runtime/tables/fault.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { isWithin, restOf, segmentRange } from '#runtime/tables/store/key-range.ts'

import { type ActionRequest, bindExpressions, checkRequest } from './action.ts'
import {
  boundOf,
  checkIndexStart,
  checkSelect,
  type ItemPage,
  limitOf,
  pageAnswer,
  readStartKey,
  type Source,
  sourceOf,
  startKeyNames,
} from './page-request.ts'
import { SCAN } from './parameter-rules.ts'
import { integer } from './parameters.ts'

const PARAMETERS = ['ProjectionExpression', 'FilterExpression'] as const

interface Segment {
  readonly segment: number
  readonly total: number
}

export function readScan(request: ActionRequest): ItemPage {
  const { table } = request
  checkRequest(request, SCAN, PARAMETERS)
  const start = readStartKey(request)
  const segment = segmentOf(request)
  const bound = bindExpressions(request, PARAMETERS)
  checkSelect(request)
  const source = sourceOf(request)
  checkStart(start, request, source)
  const whole = segmentRange(segment.segment, segment.total)
  const from = start && boundOf(start, table, source)
  if (from !== undefined && !isWithin(whole, from)) {
    throw invalidRequest(
      'The provided starting key is invalid: Invalid ExclusiveStartKey. ' +
        'Please use ExclusiveStartKey with correct Segment. ' +
        `TotalSegments: ${segment.total} Segment: ${segment.segment}`,
    )
  }
  checkNestedPaths(bound.projection?.paths ?? [], table.schema)
  checkNestedPaths(bound.filter?.paths ?? [], table.schema)
  return {
    request: {
      ...(source.index !== undefined && { index: source.index }),
      range: from === undefined ? whole : restOf(whole, from, true),
      forward: true,
      limit: limitOf(request),
    },
    answer: pageAnswer(request, source, bound),
  }
}

function segmentOf({ body }: ActionRequest): Segment {
  const [segment, total] = [integer(body, 'Segment'), integer(body, 'TotalSegments')]
  if (segment !== undefined && total === undefined) {
    throw invalidRequest(
      'The TotalSegments parameter is required but was not present in the request when Segment parameter is present',
    )
  }
  if (total === undefined) return { segment: 0, total: 1 }
  if (segment === undefined) {
    throw invalidRequest(
      'The Segment parameter is required but was not present in the request when parameter TotalSegments is present',
    )
  }
  if (segment >= total) {
    throw invalidRequest(
      'The Segment parameter is zero-based and must be less than parameter TotalSegments: ' +
        `Segment: ${segment} is not less than TotalSegments: ${total}`,
    )
  }
  return { segment, total }
}

function checkStart(start: Item | undefined, { table }: ActionRequest, source: Source): void {
  if (start === undefined) return
  if (Object.keys(start).length !== startKeyNames(table, source).length) {
    throw invalidRequest(
      source.index === undefined
        ? 'The provided starting key is invalid: The provided key element does not match the schema'
        : 'The provided starting key is invalid',
    )
  }
  if (source.index !== undefined) checkIndexStart(start, source.keys)
}
