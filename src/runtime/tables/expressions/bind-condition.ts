import { ATTRIBUTE_TYPES, type AttributeValue } from '#runtime/tables/items/attribute-value.ts'
import { compareValues } from '#runtime/tables/items/order.ts'

import {
  bindCall,
  checkArity,
  checkFirstIsPath,
  checkTypes,
  staticTypeOf,
  wrongType,
} from './bind-operand.ts'
import { pathText, samePath } from './document-path.ts'
import { ExpressionError } from './expression-error.ts'
import type { Operator } from './operators.ts'
import type { Substitutions } from './substitutions.ts'
import type { BoundCall, Condition, ConditionNode } from './syntax.ts'

const MAX_CANDIDATES = 100
/** DynamoDB's own order of the types, in two of its messages. */
const ANY_TYPE = '{NS,SS,L,BS,N,M,B,BOOL,NULL,S}'
const VALID_TYPES = '{B,NULL,SS,BOOL,L,BS,N,NS,S,M}'

/** Puts names and values into a parsed condition and checks what only they show. */
export function bindCondition(
  node: ConditionNode<string>,
  substitutions: Substitutions,
): Condition {
  if (node.kind === 'call') {
    const predicate = bindCall(node, substitutions)
    checkPredicate(predicate)
    return predicate
  }
  const conditions = node.conditions.map((each) => bindCondition(each, substitutions))
  return { kind: node.kind, conditions }
}

/** Checks of one predicate what its own operands show, whatever the item. */
function checkPredicate(predicate: BoundCall): void {
  checkArities(predicate)
  checkDistinct(predicate)
  checkAllTypes(predicate)
  RULES[predicate.operator]?.(predicate)
}

/** What else is asked of the operands of some predicates. */
const RULES: Readonly<Partial<Record<Operator, (predicate: BoundCall) => void>>> = {
  BETWEEN: checkBounds,
  IN: checkCandidates,
  attribute_exists: checkFirstIsPath,
  attribute_not_exists: checkFirstIsPath,
  attribute_type: checkTypeName,
}

/** Checks those of operands first. */
function checkArities(call: BoundCall): void {
  for (const operand of call.operands) if (operand.kind === 'call') checkArities(operand)
  checkArity(call)
}

function checkAllTypes(call: BoundCall): void {
  for (const operand of call.operands) if (operand.kind === 'call') checkAllTypes(operand)
  checkTypes(call)
}

function checkTypeName({ operator, operands: [, name] }: BoundCall): void {
  if (name?.kind !== 'value' || !('S' in name.value)) {
    throw wrongType(operator, (name && staticTypeOf(name)) ?? ANY_TYPE)
  }
  const type = name.value.S
  if (ATTRIBUTE_TYPES.some((each) => each === type)) return
  throw new ExpressionError(
    `Invalid attribute type name found; type: ${type}, valid types: ${VALID_TYPES}`,
  )
}

function checkBounds({ operands: [, lower, upper] }: BoundCall): void {
  if (lower?.kind !== 'value' || upper?.kind !== 'value') return
  const bounds =
    `lower bound operand: AttributeValue: ${valueText(lower.value)}, ` +
    `upper bound operand: AttributeValue: ${valueText(upper.value)}`
  if (staticTypeOf(lower) !== staticTypeOf(upper)) {
    throw new ExpressionError(
      `The BETWEEN operator requires same data type for lower and upper bounds; ${bounds}`,
    )
  }
  if ((compareValues(lower.value, upper.value) ?? 0) > 0) {
    throw new ExpressionError(
      `The BETWEEN operator requires upper bound to be greater than or equal to lower bound; ${bounds}`,
    )
  }
}

/** As DynamoDB writes a bound: `{N:5}`. */
function valueText(value: AttributeValue): string {
  const [[type, content] = []] = Object.entries(value)
  return `{${type}:${String(content)}}`
}

function checkCandidates({ operands }: BoundCall): void {
  const count = operands.length - 1
  if (count <= MAX_CANDIDATES) return
  throw new ExpressionError(
    `The IN operator is provided with too many operands; number of operands: ${count}`,
  )
}

function checkDistinct({ operator, operands }: BoundCall): void {
  if (operator === 'BETWEEN' || operator === 'IN') return
  const [first, second] = operands
  if (first?.kind !== 'path' || second?.kind !== 'path') return
  if (!samePath(first.path, second.path)) return
  throw new ExpressionError(
    'The first operand must be distinct from the remaining operands for this operator or function; ' +
      `operator: ${operator}, first operand: ${pathText(first.path)}`,
  )
}
