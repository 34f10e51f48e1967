import {
  type AttributeValue,
  type Item,
  membersOf,
  typeOf,
} from '#runtime/tables/items/attribute-value.ts'
import { base64ToBytes, decodedLength } from '#runtime/tables/items/base64.ts'
import { areEqual } from '#runtime/tables/items/equality.ts'
import { compareValues } from '#runtime/tables/items/order.ts'

import type { Condition, Operand, Predicate } from './condition.ts'
import { valueAt } from './document-path.ts'
import type { PredicateName } from './functions.ts'
import type { Comparator } from './syntax.ts'

type Found = AttributeValue | undefined

/** Whether an item fulfils a condition. A missing item is an item without attributes. */
export function itemMatches(condition: Condition, item: Item): boolean {
  if (condition.kind === 'and') return condition.conditions.every((each) => itemMatches(each, item))
  if (condition.kind === 'or') return condition.conditions.some((each) => itemMatches(each, item))
  return condition.kind === 'not' ? !itemMatches(condition.condition, item) : holds(condition, item)
}

function holds(predicate: Predicate, item: Item): boolean {
  switch (predicate.kind) {
    case 'comparison': {
      const [left, right] = predicate.operands
      return compares(predicate.operator, resolve(left, item), resolve(right, item))
    }
    case 'between': {
      const [value, lower, upper] = predicate.operands.map((each) => resolve(each, item))
      return compares('>=', value, lower) && compares('<=', value, upper)
    }
    case 'in': {
      const value = resolve(predicate.operand, item)
      return predicate.candidates.some((each) => equals(value, resolve(each, item)))
    }
    case 'call': {
      const [first, second] = predicate.operands.map((each) => resolve(each, item))
      return FUNCTIONS[predicate.name](first, second)
    }
    default:
      return predicate satisfies never
  }
}

function resolve(operand: Operand, item: Item): Found {
  if (operand.kind === 'value') return operand.value
  if (operand.kind === 'path') return valueAt(item, operand.path)
  const size = measure(resolve(operand.operand, item))
  return size === undefined ? undefined : { N: String(size) }
}

const equals = (one: Found, other: Found): boolean =>
  one !== undefined && other !== undefined && areEqual(one, other)

/** What is missing is unequal to everything, also to what else is missing, and has no order. */
function compares(operator: Comparator, left: Found, right: Found): boolean {
  if (operator === '=') return equals(left, right)
  if (operator === '<>') return !equals(left, right)
  if (left === undefined || right === undefined) return false
  const order = compareValues(left, right)
  if (order === undefined) return false
  if (operator === '<') return order < 0
  if (operator === '<=') return order <= 0
  return operator === '>' ? order > 0 : order >= 0
}

const FUNCTIONS: Readonly<Record<PredicateName, (first: Found, second: Found) => boolean>> = {
  attribute_exists: (first) => first !== undefined,
  attribute_not_exists: (first) => first === undefined,
  attribute_type: (first, second) =>
    first !== undefined && second !== undefined && 'S' in second && typeOf(first) === second.S,
  begins_with: (first, second) =>
    first !== undefined && second !== undefined && beginsWith(first, second),
  contains: (first, second) =>
    first !== undefined && second !== undefined && contains(first, second),
}

export function beginsWith(value: AttributeValue, prefix: AttributeValue): boolean {
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
