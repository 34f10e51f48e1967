import { isFinite, max, trunc } from '#sandbox/guest/web/primordials.ts'

import type { PreparedNode } from './prepared-schema.ts'
import type { Place, SchemaWalk } from './schema-walk.ts'

/** Of a quotient: 19.99 is a multiple of 0.01 as people write it, and not as doubles divide. */
const RELATIVE_ERROR = 4 * 2 ** -52

export function checkNumber(
  walk: SchemaWalk,
  node: PreparedNode,
  value: number,
  place: Place | undefined,
): boolean {
  const fault = belowMinimum(node, value) ?? aboveMaximum(node, value)
  if (fault !== undefined) return walk.fail(place, fault)
  const { multipleOf } = node
  if (multipleOf === undefined || isMultiple(value, multipleOf)) return true
  return walk.fail(place, `must be a multiple of ${multipleOf}`)
}

function belowMinimum(
  { minimum, exclusiveMinimum }: PreparedNode,
  value: number,
): string | undefined {
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`
  if (exclusiveMinimum === undefined || value > exclusiveMinimum) return undefined
  return `must be more than ${exclusiveMinimum}`
}

function aboveMaximum(
  { maximum, exclusiveMaximum }: PreparedNode,
  value: number,
): string | undefined {
  if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`
  if (exclusiveMaximum === undefined || value < exclusiveMaximum) return undefined
  return `must be less than ${exclusiveMaximum}`
}

function isMultiple(value: number, unit: number): boolean {
  const quotient = value / unit
  if (!isFinite(quotient)) return value % unit === 0
  const size = quotient < 0 ? -quotient : quotient
  const over = size - trunc(size)
  const distance = over < 0.5 ? over : 1 - over
  return distance <= max(1, size) * RELATIVE_ERROR
}
