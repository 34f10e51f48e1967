import { testPattern } from '#sandbox/guest/web/primordials.ts'

import { hasFormat } from './formats.ts'
import type { PreparedNode } from './prepared-schema.ts'
import { lengthOf, type Place, type SchemaWalk } from './schema-walk.ts'

export function checkString(
  walk: SchemaWalk,
  node: PreparedNode,
  value: string,
  place: Place | undefined,
): boolean {
  const fault = lengthFault(node, value)
  if (fault !== undefined) return walk.fail(place, fault)
  const { format, matches } = node
  if (format !== undefined && !hasFormat(format, value))
    return walk.fail(place, `must have the format "${format}"`)
  if (matches && !testPattern(matches, value))
    return walk.fail(place, `must match the pattern ${node.pattern}`)
  return true
}

/** A code point has one or two units: most texts need no counting. */
function lengthFault({ minLength, maxLength }: PreparedNode, value: string): string | undefined {
  if (minLength !== undefined && (value.length < minLength || lengthOf(value) < minLength))
    return `must have at least ${characters(minLength)}`
  if (maxLength !== undefined && value.length > maxLength && lengthOf(value) > maxLength)
    return `must have at most ${characters(maxLength)}`
  return undefined
}

const characters = (count: number): string => (count === 1 ? '1 character' : `${count} characters`)
