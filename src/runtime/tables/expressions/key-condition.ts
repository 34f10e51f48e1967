import { type AttributeValue, typeOf } from '#runtime/tables/items/attribute-value.ts'
import {
  type KeyAttribute,
  keyAttributes,
  type KeySchema,
} from '#runtime/tables/items/key-schema.ts'
import { compareValues } from '#runtime/tables/items/order.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import type { Condition } from './condition.ts'
import { type KeyTerm, keyTermsOf } from './key-terms.ts'
import { beginsWith } from './matches.ts'

/** One partition, and the part of it that a query reads. */
export interface KeyRange {
  readonly partition: AttributeValue
  readonly sort: SortRange | undefined
}

export type SortRange =
  | { readonly operator: '=' | '<' | '<=' | '>' | '>='; readonly value: AttributeValue }
  | {
      readonly operator: 'between'
      readonly lower: AttributeValue
      readonly upper: AttributeValue
    }
  | { readonly operator: 'beginsWith'; readonly prefix: AttributeValue }

const COMPARE: Readonly<Record<'=' | '<' | '<=' | '>' | '>=', (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}
const MOST_CONDITIONS = 2
const UNSUPPORTED = 'Query key condition not supported'

/**
 * Which items a key condition names, in a table or index with these keys. DynamoDB looks at the keys one after the other, at
 * each first for what `inspect` refuses.
 */
export function keyRangeOf(
  condition: Condition,
  schema: KeySchema,
  inspect?: (key: KeyAttribute) => void,
): KeyRange {
  const terms = keyTermsOf(condition)
  const { partitionKey, sortKey } = schema
  if (terms.size > MOST_CONDITIONS) throw tooMany(terms.size, keyAttributes(schema).length)
  inspect?.(partitionKey)
  if (sortKey === undefined && terms.size > 1) throw validationError(UNSUPPORTED)
  const partition = terms.get(partitionKey.name)
  if (partition === undefined) throw missing(partitionKey)
  checkTypes(partition, partitionKey)
  if (partition.operator !== '=') throw validationError(UNSUPPORTED)
  const [value] = partition.values
  if (value === undefined) throw missing(partitionKey)
  if (sortKey === undefined) return { partition: value, sort: undefined }
  inspect?.(sortKey)
  return { partition: value, sort: sortRange(terms, sortKey) }
}

/** Whether a sort key lies in a range. */
export function inSortRange(value: AttributeValue, range: SortRange): boolean {
  if (range.operator === 'beginsWith') return beginsWith(value, range.prefix)
  if (range.operator !== 'between') return compares(range.operator, value, range.value)
  return compares('>=', value, range.lower) && compares('<=', value, range.upper)
}

function compares(
  operator: keyof typeof COMPARE,
  value: AttributeValue,
  bound: AttributeValue,
): boolean {
  const order = compareValues(value, bound)
  return order !== undefined && COMPARE[operator](order)
}

function sortRange(
  terms: ReadonlyMap<string, KeyTerm>,
  sortKey: KeyAttribute,
): SortRange | undefined {
  const term = terms.get(sortKey.name)
  if (term === undefined) {
    if (terms.size > 1) throw missing(sortKey)
    return undefined
  }
  checkTypes(term, sortKey)
  const [first, second] = term.values
  if (first === undefined) throw missing(sortKey)
  if (term.operator === 'beginsWith') return { operator: 'beginsWith', prefix: first }
  if (term.operator !== 'between') return { operator: term.operator, value: first }
  return { operator: 'between', lower: first, upper: second ?? first }
}

function checkTypes(term: KeyTerm, key: KeyAttribute): void {
  if (term.values.every((value) => typeOf(value) === key.type)) return
  throw validationError(
    'One or more parameter values were invalid: Condition parameter type does not match schema type',
  )
}

const tooMany = (given: number, possible: number): Error =>
  validationError(
    `The number of query conditions (${given}) exceeds the number of key attributes defined in the schema (${possible})`,
  )

const missing = (key: KeyAttribute): Error =>
  validationError(`Query condition missed key schema element: ${key.name}`)
