import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'

import type { DocumentPath } from './document-path.ts'
import type { Operator } from './operators.ts'

/**
 * Trees have one shape before and after names and values are put in place. Before, a `Value` is the text of a
 * placeholder such as `:v`, and a part of a path may be a placeholder such as `#name`.
 */
export type OperandNode<Value> =
  | { readonly kind: 'path'; readonly path: DocumentPath }
  | { readonly kind: 'value'; readonly value: Value }
  | CallNode<Value>

export interface CallNode<Value> {
  readonly kind: 'call'
  readonly operator: Operator
  readonly operands: readonly OperandNode<Value>[]
}

/** A predicate, or several conditions; of `not` just one. */
export type ConditionNode<Value> = CallNode<Value> | ConditionGroup<Value>

interface ConditionGroup<Value> {
  readonly kind: 'and' | 'or' | 'not'
  readonly conditions: readonly ConditionNode<Value>[]
}

export const UPDATE_SECTIONS = ['SET', 'REMOVE', 'ADD', 'DELETE'] as const
type UpdateSection = (typeof UPDATE_SECTIONS)[number]

/** One action of an update. Only REMOVE has no value; that of ADD and DELETE stands for itself. */
export interface ActionNode<Value> {
  readonly section: UpdateSection
  readonly path: DocumentPath
  readonly value?: OperandNode<Value>
}

export type BoundCall = CallNode<AttributeValue>
export type Operand = OperandNode<AttributeValue>
export type Condition = ConditionNode<AttributeValue>
export type UpdateAction = ActionNode<AttributeValue>

/** Every path below a node, in the order of the text. */
export function pathsIn(node: ConditionNode<unknown> | OperandNode<unknown>): DocumentPath[] {
  if (node.kind === 'path') return [node.path]
  if (node.kind === 'value') return []
  return (node.kind === 'call' ? node.operands : node.conditions).flatMap(pathsIn)
}
