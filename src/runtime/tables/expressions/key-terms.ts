import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import type { Condition, Operand, Predicate } from './condition.ts'
import type { Comparator } from './syntax.ts'

type KeyOperator = Exclude<Comparator, '<>'> | 'between' | 'beginsWith'

/** What a key condition asks of one attribute. */
export interface KeyTerm {
  readonly operator: KeyOperator
  readonly values: readonly AttributeValue[]
}

const WRONG_CONDITION = 'Invalid condition in KeyConditionExpression: '
const WRONG_OPERATOR = 'Invalid operator used in KeyConditionExpression: '
const NESTED = 'KeyConditionExpressions cannot contain nested operations'

/** `:v < key` is `key > :v`. */
const MIRRORED = {
  '=': '=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
} as const satisfies Record<Exclude<Comparator, '<>'>, KeyOperator>

/** Takes a key condition apart, by the attribute each part is about; anything but ANDed comparisons is refused. */
export function keyTermsOf(condition: Condition): ReadonlyMap<string, KeyTerm> {
  const terms = new Map<string, KeyTerm>()
  collect(condition, terms)
  return terms
}

function collect(condition: Condition, terms: Map<string, KeyTerm>): void {
  const { kind } = condition
  if (kind === 'or' || kind === 'not' || kind === 'in') {
    throw validationError(`${WRONG_OPERATOR}${kind.toUpperCase()}`)
  }
  if (kind === 'and') for (const each of condition.conditions) collect(each, terms)
  else add(condition, terms)
}

function add(predicate: Exclude<Predicate, { kind: 'in' }>, terms: Map<string, KeyTerm>): void {
  const operator = operatorOf(predicate)
  const { name, index } = keyOf(predicate.operands)
  if (terms.has(name)) {
    throw validationError(
      'Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key',
    )
  }
  const values = predicate.operands.flatMap((each) => (each.kind === 'value' ? [each.value] : []))
  terms.set(name, { operator: index === 0 ? operator : mirrored(operator), values })
}

function operatorOf(predicate: Exclude<Predicate, { kind: 'in' }>): KeyOperator {
  const [first] = predicate.operands
  if (predicate.kind === 'comparison') {
    if (predicate.operator === '<>') throw validationError(`${WRONG_OPERATOR}<>`)
    return predicate.operator
  }
  if (predicate.kind === 'call' && predicate.name !== 'begins_with') {
    throw validationError(`${WRONG_OPERATOR}${predicate.name}`)
  }
  const name = predicate.kind === 'between' ? 'BETWEEN' : 'begins_with'
  if (first?.kind !== 'path') {
    throw validationError(
      `${WRONG_CONDITION}${name} operator must have the key attribute as its first operand`,
    )
  }
  return predicate.kind === 'between' ? 'between' : 'beginsWith'
}

/** The one attribute among the operands, and where it stands. */
function keyOf(operands: readonly Operand[]): { name: string; index: number } {
  let key: { name: string; index: number } | undefined
  for (const [index, operand] of operands.entries()) {
    if (operand.kind === 'value') continue
    if (operand.kind === 'size') throw validationError(NESTED)
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

function mirrored(operator: KeyOperator): KeyOperator {
  return operator === 'between' || operator === 'beginsWith' ? operator : MIRRORED[operator]
}
