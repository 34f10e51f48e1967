import {
  ATTRIBUTE_TYPES,
  type AttributeType,
  type AttributeValue,
} from '#runtime/tables/items/attribute-value.ts'
import { compareValues } from '#runtime/tables/items/order.ts'

import { type Operand, type Predicate, staticTypeOf } from './condition.ts'
import { pathText, samePath } from './document-path.ts'
import { ExpressionError } from './expression-error.ts'
import { SIZE } from './functions.ts'
import type { CallNode, OperandNode } from './syntax.ts'
import { valueText } from './value-text.ts'

const MAX_CANDIDATES = 100
const ORDERED: readonly AttributeType[] = ['S', 'N', 'B']
const PREFIXED: readonly AttributeType[] = ['S', 'B']
const MEASURED: readonly AttributeType[] = ['S', 'B', 'SS', 'NS', 'BS', 'L', 'M']
/** DynamoDB's own order of the types, in two of its messages. */
const ANY_TYPE = '{NS,SS,L,BS,N,M,B,BOOL,NULL,S}'
const VALID_TYPES = '{B,NULL,SS,BOOL,L,BS,N,NS,S,M}'

export function checkArity(node: CallNode, expected: number): void {
  if (node.args.length === expected) return
  throw new ExpressionError(
    'Incorrect number of operands for operator or function; ' +
      `operator or function: ${node.name}, number of operands: ${node.args.length}`,
  )
}

/** Every `size` below an operand has one operand itself. */
export function checkSizes(operand: OperandNode): void {
  if (operand.kind !== 'call') return
  for (const argument of operand.args) checkSizes(argument)
  checkArity(operand, 1)
}

/** Checks of one predicate what its own operands show, whatever the item. */
export function checkPredicate(predicate: Predicate): void {
  checkDistinct(predicate)
  for (const operand of operandsOf(predicate)) checkMeasured(operand)
  switch (predicate.kind) {
    case 'comparison':
      if (predicate.operator !== '=' && predicate.operator !== '<>') {
        checkTypes(predicate.operator, predicate.operands, ORDERED)
      }
      return
    case 'between':
      checkTypes('BETWEEN', predicate.operands, ORDERED)
      checkBounds(predicate.operands[1], predicate.operands[2])
      return
    case 'in':
      checkCandidates(predicate.candidates.length)
      return
    case 'call':
      checkCall(predicate.name, predicate.operands)
      return
    default:
      predicate satisfies never
  }
}

function checkCall(name: string, operands: readonly Operand[]): void {
  const [first, second] = operands
  switch (name) {
    case 'attribute_exists':
    case 'attribute_not_exists':
      if (first?.kind === 'path') return
      throw new ExpressionError(
        `Operator or function requires a document path; operator or function: ${name}`,
      )
    case 'begins_with':
      checkTypes(name, operands, PREFIXED)
      return
    case 'attribute_type':
      if (second !== undefined) checkTypeName(name, second)
      return
    default:
  }
}

function checkTypeName(name: string, operand: Operand): void {
  if (operand.kind !== 'value' || !('S' in operand.value)) {
    throw wrongType(name, staticTypeOf(operand) ?? ANY_TYPE)
  }
  const type = operand.value.S
  if (ATTRIBUTE_TYPES.some((each) => each === type)) return
  throw new ExpressionError(
    `Invalid attribute type name found; type: ${type}, valid types: ${VALID_TYPES}`,
  )
}

function checkMeasured(operand: Operand): void {
  if (operand.kind !== 'size') return
  checkMeasured(operand.operand)
  checkTypes(SIZE, [operand.operand], MEASURED)
}

function checkTypes(
  name: string,
  operands: readonly Operand[],
  allowed: readonly AttributeType[],
): void {
  for (const operand of operands) {
    const type = staticTypeOf(operand)
    if (type !== undefined && !allowed.includes(type)) throw wrongType(name, type)
  }
}

function checkBounds(lower: Operand, upper: Operand): void {
  if (lower.kind !== 'value' || upper.kind !== 'value') return
  const [low, high] = [lower.value, upper.value]
  if (staticTypeOf(lower) !== staticTypeOf(upper)) {
    throw bounds(
      'The BETWEEN operator requires same data type for lower and upper bounds',
      low,
      high,
    )
  }
  if ((compareValues(low, high) ?? 0) > 0) {
    throw bounds(
      'The BETWEEN operator requires upper bound to be greater than or equal to lower bound',
      low,
      high,
    )
  }
}

const bounds = (message: string, lower: AttributeValue, upper: AttributeValue): ExpressionError =>
  new ExpressionError(
    `${message}; lower bound operand: AttributeValue: ${valueText(lower)}, ` +
      `upper bound operand: AttributeValue: ${valueText(upper)}`,
  )

function checkCandidates(count: number): void {
  if (count <= MAX_CANDIDATES) return
  throw new ExpressionError(
    `The IN operator is provided with too many operands; number of operands: ${count}`,
  )
}

function checkDistinct(predicate: Predicate): void {
  if (predicate.kind !== 'comparison' && predicate.kind !== 'call') return
  const [first, second] = predicate.operands
  if (first?.kind !== 'path' || second?.kind !== 'path') return
  if (!samePath(first.path, second.path)) return
  const operator = predicate.kind === 'call' ? predicate.name : predicate.operator
  throw new ExpressionError(
    'The first operand must be distinct from the remaining operands for this operator or function; ' +
      `operator: ${operator}, first operand: ${pathText(first.path)}`,
  )
}

const operandsOf = (predicate: Predicate): readonly Operand[] =>
  predicate.kind === 'in' ? [predicate.operand, ...predicate.candidates] : predicate.operands

const wrongType = (name: string, type: string): ExpressionError =>
  new ExpressionError(
    `Incorrect operand type for operator or function; operator or function: ${name}, operand type: ${type}`,
  )
