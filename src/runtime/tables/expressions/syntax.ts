/** A name, a `#placeholder`, or the index of a list element. */
export type PathPart = string | number

export interface PathNode {
  readonly kind: 'path'
  readonly parts: readonly PathPart[]
}

export interface ValueNode {
  readonly kind: 'value'
  readonly name: string
}

export interface CallNode {
  readonly kind: 'call'
  readonly name: string
  readonly args: readonly OperandNode[]
}

export type OperandNode = PathNode | ValueNode | CallNode

export const COMPARATORS = ['=', '<>', '<', '<=', '>', '>='] as const
export type Comparator = (typeof COMPARATORS)[number]

export type ConditionNode =
  | { readonly kind: 'and'; readonly conditions: readonly ConditionNode[] }
  | { readonly kind: 'or'; readonly conditions: readonly ConditionNode[] }
  | { readonly kind: 'not'; readonly condition: ConditionNode }
  | PredicateNode

export type PredicateNode =
  | {
      readonly kind: 'comparison'
      readonly operator: Comparator
      readonly operands: readonly [OperandNode, OperandNode]
    }
  | {
      readonly kind: 'between'
      readonly operands: readonly [OperandNode, OperandNode, OperandNode]
    }
  | { readonly kind: 'in'; readonly operands: readonly OperandNode[] }
  | CallNode

export type ArithmeticOperator = '+' | '-'

export type UpdateValueNode =
  | OperandNode
  | {
      readonly kind: 'arithmetic'
      readonly operator: ArithmeticOperator
      readonly operands: readonly [OperandNode, OperandNode]
    }

export const UPDATE_SECTIONS = ['SET', 'REMOVE', 'ADD', 'DELETE'] as const
export type UpdateSection = (typeof UPDATE_SECTIONS)[number]

export type ActionNode =
  | { readonly section: 'SET'; readonly path: PathNode; readonly value: UpdateValueNode }
  | { readonly section: 'REMOVE'; readonly path: PathNode }
  | { readonly section: 'ADD' | 'DELETE'; readonly path: PathNode; readonly value: ValueNode }
