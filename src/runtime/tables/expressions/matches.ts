import {
  type AttributeValue,
  type Item,
  membersOf,
  typeOf,
} from '#runtime/tables/items/attribute-value.ts'
import { base64ToBytes, decodedLength } from '#runtime/tables/items/base64.ts'
import { areEqual } from '#runtime/tables/items/equality.ts'
import { compareValues } from '#runtime/tables/items/order.ts'

import { valueAt } from './document-path.ts'
import type { Operator } from './operators.ts'
import type { Condition, Operand } from './syntax.ts'

type Found = AttributeValue | undefined
/** Judges the values of operands: two, and what comes after them. */
type Predicate = (first: Found, second: Found, others: readonly Found[]) => boolean

const NONE: readonly Found[] = []

/** Whether an item fulfils a condition. A missing item is an item without attributes. */
export function itemMatches(condition: Condition, item: Item): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.conditions.every((each) => itemMatches(each, item))
    case 'or':
      return condition.conditions.some((each) => itemMatches(each, item))
    case 'not':
      return !condition.conditions.some((each) => itemMatches(each, item))
    case 'call': {
      const [first, second, ...others] = condition.operands
      return holds(
        condition.operator,
        resolve(first, item),
        resolve(second, item),
        others.length === 0 ? NONE : others.map((each) => resolve(each, item)),
      )
    }
    default:
      return condition satisfies never
  }
}

/** Whether a predicate is true of the values of its operands, of which some may be missing. */
export const holds = (operator: Operator, ...values: Parameters<Predicate>): boolean =>
  PREDICATES[operator]?.(...values) === true

function resolve(operand: Operand | undefined, item: Item): Found {
  if (operand === undefined) return undefined
  if (operand.kind === 'value') return operand.value
  if (operand.kind === 'path') return valueAt(item, operand.path)
  const [measured] = operand.operands
  const size = measured && measure(resolve(measured, item))
  return size === undefined ? undefined : { N: String(size) }
}

/** What is missing is unequal to everything, also to what else is missing, and has no order. */
const equals = (one: Found, other: Found): boolean =>
  one !== undefined && other !== undefined && areEqual(one, other)

const ordered =
  (fits: (order: number) => boolean) =>
  (left: Found, right: Found): boolean => {
    const order = left && right && compareValues(left, right)
    return order !== undefined && fits(order)
  }

const atLeast = ordered((order) => order >= 0)
const atMost = ordered((order) => order <= 0)

const present =
  (test: (first: AttributeValue, second: AttributeValue) => boolean): Predicate =>
  (first, second) =>
    first !== undefined && second !== undefined && test(first, second)

const PREDICATES: Readonly<Partial<Record<Operator, Predicate>>> = {
  '=': equals,
  '<>': (first, second) => !equals(first, second),
  '<': ordered((order) => order < 0),
  '<=': atMost,
  '>': ordered((order) => order > 0),
  '>=': atLeast,
  BETWEEN: (value, lower, [upper]) => atLeast(value, lower) && atMost(value, upper),
  IN: (value, first, others) => equals(value, first) || others.some((each) => equals(value, each)),
  attribute_exists: (first) => first !== undefined,
  attribute_not_exists: (first) => first === undefined,
  attribute_type: present((first, second) => 'S' in second && typeOf(first) === second.S),
  begins_with: present(beginsWith),
  contains: present(contains),
}

function beginsWith(value: AttributeValue, prefix: AttributeValue): boolean {
  if ('S' in value && 'S' in prefix) return value.S.startsWith(prefix.S)
  if (!('B' in value) || !('B' in prefix)) return false
  const bytes = base64ToBytes(prefix.B)
  return base64ToBytes(value.B).subarray(0, bytes.length).equals(bytes)
}

function contains(container: AttributeValue, member: AttributeValue): boolean {
  if ('L' in container) return container.L.some((each) => areEqual(each, member))
  if ('S' in container) return 'S' in member && container.S.includes(member.S)
  if ('B' in container)
    return 'B' in member && base64ToBytes(container.B).includes(base64ToBytes(member.B))
  return hasMember(container, member)
}

function hasMember(set: AttributeValue, member: AttributeValue): boolean {
  if ('SS' in set) return 'S' in member && set.SS.includes(member.S)
  if ('NS' in set) return 'N' in member && set.NS.includes(member.N)
  return 'BS' in set && 'B' in member && set.BS.includes(member.B)
}

/** Characters, bytes, members, elements or attributes; other types have no size. */
function measure(value: Found): number | undefined {
  if (value === undefined) return undefined
  if ('S' in value) return value.S.length
  if ('B' in value) return decodedLength(value.B)
  if ('L' in value) return value.L.length
  return 'M' in value ? Object.keys(value.M).length : membersOf(value)?.length
}
