import { type AttributeValue, typeOf } from '#runtime/tables/items/attribute-value.ts'
import {
  type KeyAttribute,
  keyAttributes,
  type KeySchema,
} from '#runtime/tables/items/key-schema.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import { type KeyTerm, keyTermsOf } from './key-terms.ts'
import { holds } from './matches.ts'
import type { Condition } from './syntax.ts'

/** One partition, and what is asked of the sort keys that a query reads in it. */
export interface KeyRange {
  readonly partition: AttributeValue
  readonly sort: KeyTerm | undefined
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
  const { operator, values } = termOf(terms, partitionKey)
  const [partition] = values
  if (operator !== '=' || partition === undefined) throw validationError(UNSUPPORTED)
  if (sortKey === undefined) return { partition, sort: undefined }
  inspect?.(sortKey)
  return { partition, sort: terms.size > 1 ? termOf(terms, sortKey) : undefined }
}

/** Whether a sort key is what a term asks. */
export const inSortRange = (value: AttributeValue, { operator, values }: KeyTerm): boolean =>
  holds(operator, [value, ...values])

function termOf(terms: ReadonlyMap<string, KeyTerm>, { name, type }: KeyAttribute): KeyTerm {
  const term = terms.get(name)
  if (term === undefined) {
    throw validationError(`Query condition missed key schema element: ${name}`)
  }
  if (term.values.every((value) => typeOf(value) === type)) return term
  throw validationError(
    'One or more parameter values were invalid: Condition parameter type does not match schema type',
  )
}

const tooMany = (given: number, possible: number): Error =>
  validationError(
    `The number of query conditions (${given}) exceeds the number of key attributes defined in the schema (${possible})`,
  )
