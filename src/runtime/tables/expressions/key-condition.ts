import { type AttributeValue, typeOf } from '#runtime/tables/items/attribute-value.ts'
import {
  type KeyAttribute,
  keyAttributes,
  type KeySchema,
} from '#runtime/tables/items/key-schema.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import { holds } from './matches.ts'
import type { Operator } from './operators.ts'
import type { BoundCall, Condition, Operand } from './syntax.ts'

const MOST_CONDITIONS = 2
const UNSUPPORTED = 'Query key condition not supported'
const WRONG_CONDITION = 'Invalid condition in KeyConditionExpression: '
const NESTED = 'KeyConditionExpressions cannot contain nested operations'

/** What an operator means when its operands change places: `:v < key` is `key > :v`. Two need the key in the first place. */
const MIRRORED = {
  '=': '=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
  BETWEEN: 'BETWEEN',
  begins_with: 'begins_with',
} as const satisfies Readonly<Partial<Record<Operator, Operator>>>

/** What a key condition asks of one attribute. */
export interface KeyTerm {
  readonly operator: KeyOperator
  /** The two bounds of BETWEEN, else one. */
  readonly values: readonly AttributeValue[]
}

type KeyOperator = (typeof MIRRORED)[keyof typeof MIRRORED]

/** One partition, and what is asked of the sort keys that a query reads in it. */
export interface KeyRange {
  readonly partition: AttributeValue
  readonly sort: KeyTerm | undefined
}

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
  const { operator, values } = keyTerm(terms, partitionKey)
  const [partition] = values
  if (operator !== '=' || partition === undefined) throw validationError(UNSUPPORTED)
  if (sortKey === undefined) return { partition, sort: undefined }
  inspect?.(sortKey)
  return { partition, sort: terms.size > 1 ? keyTerm(terms, sortKey) : undefined }
}

/** Whether a sort key is what a term asks. */
export const inSortRange = (value: AttributeValue, { operator, values }: KeyTerm): boolean =>
  holds(operator, value, values[0], values.slice(1))

/** Takes a key condition apart, by the attribute each part is about; anything but ANDed comparisons is refused. */
export function keyTermsOf(condition: Condition): ReadonlyMap<string, KeyTerm> {
  const terms = new Map<string, KeyTerm>()
  collect(condition, terms)
  return terms
}

function collect(condition: Condition, terms: Map<string, KeyTerm>): void {
  if (condition.kind === 'and') {
    for (const each of condition.conditions) collect(each, terms)
    return
  }
  if (condition.kind !== 'call') throw wrongOperator(condition.kind.toUpperCase())
  const [name, term] = termOf(condition)
  if (terms.has(name)) {
    throw validationError(
      'Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key',
    )
  }
  terms.set(name, term)
}

function termOf({ operator, operands }: BoundCall): [string, KeyTerm] {
  if (!isKeyOperator(operator)) throw wrongOperator(operator)
  if ((operator === 'BETWEEN' || operator === 'begins_with') && operands[0]?.kind !== 'path') {
    throw validationError(
      `${WRONG_CONDITION}${operator} operator must have the key attribute as its first operand`,
    )
  }
  const { name, index } = keyOf(operands)
  const values = operands.flatMap((each) => (each.kind === 'value' ? [each.value] : []))
  return [name, { operator: index === 0 ? operator : MIRRORED[operator], values }]
}

const isKeyOperator = (operator: Operator): operator is KeyOperator =>
  Object.hasOwn(MIRRORED, operator)

const wrongOperator = (name: string): Error =>
  validationError(`Invalid operator used in KeyConditionExpression: ${name}`)

/** The one attribute among the operands, and its place. */
function keyOf(operands: readonly Operand[]): { name: string; index: number } {
  let key: { name: string; index: number } | undefined
  for (const [index, operand] of operands.entries()) {
    if (operand.kind === 'value') continue
    if (operand.kind === 'call') throw validationError(NESTED)
    if (key !== undefined) {
      throw validationError(`${WRONG_CONDITION}Multiple attribute names used in one condition`)
    }
    if (operand.path.length > 1) {
      throw validationError('KeyConditionExpressions cannot have conditions on nested attributes')
    }
    key = { name: String(operand.path[0]), index }
  }
  if (key === undefined) throw validationError(`${WRONG_CONDITION}No key attribute specified`)
  return key
}

function keyTerm(terms: ReadonlyMap<string, KeyTerm>, { name, type }: KeyAttribute): KeyTerm {
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
