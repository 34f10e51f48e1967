import { type AttributeType, typeOf } from '#runtime/tables/items/attribute-value.ts'

import { ExpressionError } from './expression-error.ts'
import { ruleOf } from './operators.ts'
import type { Substitutions } from './substitutions.ts'
import type { BoundCall, CallNode, Operand, OperandNode } from './syntax.ts'

/** Puts names and values into an operand. */
export function bindOperand(node: OperandNode<string>, substitutions: Substitutions): Operand {
  switch (node.kind) {
    case 'path':
      return { kind: 'path', path: substitutions.path(node.path) }
    case 'value':
      return { kind: 'value', value: substitutions.value(node.value) }
    case 'call':
      return bindCall(node, substitutions)
    default:
      return node satisfies never
  }
}

export const bindCall = (
  { kind, operator, operands }: CallNode<string>,
  substitutions: Substitutions,
): BoundCall => ({
  kind,
  operator,
  operands: operands.map((each) => bindOperand(each, substitutions)),
})

export function checkArity({ operator, operands }: BoundCall): void {
  const expected = ruleOf(operator).operands ?? operands.length
  if (operands.length === expected) return
  throw new ExpressionError(
    'Incorrect number of operands for operator or function; ' +
      `operator or function: ${operator}, number of operands: ${operands.length}`,
  )
}

/** Refuses operands whose types show, whatever the item, that the operator cannot take them. */
export function checkTypes({ operator, operands }: BoundCall): void {
  const { types } = ruleOf(operator)
  for (const operand of operands) {
    const type = staticTypeOf(operand)
    if (type !== undefined && types?.includes(type) === false) throw wrongType(operator, type)
  }
}

export function checkFirstIsPath({ operator, operands }: BoundCall): void {
  if (operands[0]?.kind === 'path') return
  throw new ExpressionError(
    `Operator or function requires a document path; operator or function: ${operator}`,
  )
}

/** The type that an operand has in every item, or undefined when the item decides. */
export function staticTypeOf(operand: Operand): AttributeType | undefined {
  if (operand.kind === 'value') return typeOf(operand.value)
  return operand.kind === 'call' ? ruleOf(operand.operator).result : undefined
}

export const wrongType = (operator: string, type: string): ExpressionError =>
  new ExpressionError(
    `Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${type}`,
  )
