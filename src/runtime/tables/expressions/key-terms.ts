import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import type { Operator } from './operators.ts'
import type { BoundCall, Condition, Operand } from './syntax.ts'

/** What a key condition asks of one attribute. */
export interface KeyTerm {
  readonly operator: KeyOperator
  /** The two bounds of BETWEEN, else one. */
  readonly values: readonly AttributeValue[]
}

type KeyOperator = (typeof MIRRORED)[keyof typeof MIRRORED]

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

/** The one attribute among the operands, and where it stands. */
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
