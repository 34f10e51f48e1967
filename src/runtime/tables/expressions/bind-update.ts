import {
  type AttributeType,
  type AttributeValue,
  typeOf,
} from '#runtime/tables/items/attribute-value.ts'

import { checkArity } from './condition-rules.ts'
import { checkDistinctPaths } from './document-path.ts'
import { ExpressionError } from './expression-error.ts'
import { isUpdateFunctionName, UPDATE_FUNCTIONS } from './functions.ts'
import type { Substitutions } from './substitutions.ts'
import type {
  ActionNode,
  CallNode,
  OperandNode,
  PathNode,
  UpdateValueNode,
  ValueNode,
} from './syntax.ts'
import type { UpdateAction, Update, UpdateValue } from './update.ts'

/** DynamoDB's names of the types in what it says of ADD and DELETE. */
const LONG_NAMES: Readonly<Partial<Record<AttributeType, string>>> = {
  S: 'STRING',
  N: 'NUMBER',
  B: 'BINARY',
  BOOL: 'BOOLEAN',
  L: 'LIST',
  M: 'MAP',
}

/** Puts names and values into a parsed update and checks what only they show. */
export function bindUpdate(nodes: readonly ActionNode[], substitutions: Substitutions): Update {
  const leaves = nodes.flatMap((node) => [node.path, ...leavesOf(node)])
  const paths = leaves.flatMap((leaf) => (leaf.kind === 'path' ? [substitutions.path(leaf)] : []))
  for (const leaf of leaves) if (leaf.kind === 'value') substitutions.value(leaf.name)
  const targets = nodes.map((node) => substitutions.path(node.path))
  checkDistinctPaths(targets)
  const binder = new UpdateBinder(substitutions)
  const others = new Map(nodes.flatMap((node) => binder.simple(node)))
  return {
    actions: nodes.map((node) => others.get(node) ?? binder.assignment(node)),
    targets,
    paths,
  }
}

class UpdateBinder {
  readonly #substitutions: Substitutions

  constructor(substitutions: Substitutions) {
    this.#substitutions = substitutions
  }

  /** Everything but SET, whose values are judged last. */
  simple(node: ActionNode): [ActionNode, UpdateAction][] {
    const path = this.#substitutions.path(node.path)
    if (node.section === 'REMOVE') return [[node, { section: 'REMOVE', path }]]
    if (node.section === 'SET') return []
    const value = this.#substitutions.value(node.value.name)
    if (node.section === 'DELETE') {
      if (!isSet(value)) throw wrongOperand('DELETE', value)
      return [[node, { section: 'DELETE', path, value }]]
    }
    if (!isSet(value) && !('N' in value)) throw wrongOperand('ADD', value)
    return [[node, { section: 'ADD', path, value }]]
  }

  assignment(node: ActionNode): UpdateAction {
    if (node.section !== 'SET') throw new ExpressionError('An action without a section')
    const path = this.#substitutions.path(node.path)
    return { section: 'SET', path, value: this.#value(node.value) }
  }

  #value(node: UpdateValueNode): UpdateValue {
    switch (node.kind) {
      case 'path':
        return { kind: 'path', path: this.#substitutions.path(node) }
      case 'value':
        return { kind: 'value', value: this.#substitutions.value(node.name) }
      case 'call':
        return this.#call(node)
      case 'arithmetic': {
        const operands = this.#pair(node.operands)
        for (const operand of operands) checkType(node.operator, operand, 'N')
        return { kind: 'arithmetic', operator: node.operator, operands }
      }
      default:
        return node satisfies never
    }
  }

  #call(node: CallNode): UpdateValue {
    const [first, second] = node.args
    for (const argument of node.args) if (argument.kind === 'call') this.#call(argument)
    if (isUpdateFunctionName(node.name)) checkArity(node, UPDATE_FUNCTIONS[node.name])
    if (first === undefined || second === undefined)
      throw new ExpressionError('A call without operands')
    return node.name === 'list_append'
      ? this.#listAppend(first, second)
      : this.#ifNotExists(first, second)
  }

  #ifNotExists(first: OperandNode, second: OperandNode): UpdateValue {
    if (first.kind !== 'path') {
      throw new ExpressionError(
        'Operator or function requires a document path; operator or function: if_not_exists',
      )
    }
    const path = this.#substitutions.path(first)
    return { kind: 'ifNotExists', path, otherwise: this.#value(second) }
  }

  #listAppend(first: OperandNode, second: OperandNode): UpdateValue {
    const operands = this.#pair([first, second])
    for (const operand of operands) checkType('list_append', operand, 'L')
    return { kind: 'listAppend', operands }
  }

  #pair([first, second]: readonly [OperandNode, OperandNode]): readonly [UpdateValue, UpdateValue] {
    return [this.#value(first), this.#value(second)]
  }
}

/** The paths and values of an action's right side, in the order of the text. */
function leavesOf(node: ActionNode): (PathNode | ValueNode)[] {
  if (node.section === 'REMOVE') return []
  return leavesBelow(node.value)
}

function leavesBelow(node: UpdateValueNode): (PathNode | ValueNode)[] {
  if (node.kind === 'call') return node.args.flatMap(leavesBelow)
  return node.kind === 'arithmetic' ? node.operands.flatMap(leavesBelow) : [node]
}

function checkType(operator: string, operand: UpdateValue, expected: AttributeType): void {
  if (operand.kind !== 'value' || typeOf(operand.value) === expected) return
  throw new ExpressionError(
    'Incorrect operand type for operator or function; ' +
      `operator or function: ${operator}, operand type: ${typeOf(operand.value)}`,
  )
}

const isSet = (
  value: AttributeValue,
): value is Extract<AttributeValue, { SS: unknown } | { NS: unknown } | { BS: unknown }> =>
  'SS' in value || 'NS' in value || 'BS' in value

const wrongOperand = (operator: 'ADD' | 'DELETE', value: AttributeValue): ExpressionError =>
  new ExpressionError(
    `Incorrect operand type for operator or function; operator: ${operator}, ` +
      `operand type: ${LONG_NAMES[typeOf(value)] ?? typeOf(value)}, typeSet: ALLOWED_FOR_${operator}_OPERAND`,
  )
