import type { AttributeType, AttributeValue } from '#runtime/tables/items/attribute-value.ts'
import { typeOf } from '#runtime/tables/items/attribute-value.ts'

import type { DocumentPath } from './document-path.ts'
import type { PredicateName } from './functions.ts'
import type { Comparator } from './syntax.ts'

/** A condition with its names and values in place: what evaluates, and what may become SQL. */
export type Condition =
  | { readonly kind: 'and'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'or'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'not'; readonly condition: Condition }
  | Predicate

export type Predicate =
  | {
      readonly kind: 'comparison'
      readonly operator: Comparator
      readonly operands: readonly [Operand, Operand]
    }
  | { readonly kind: 'between'; readonly operands: readonly [Operand, Operand, Operand] }
  | { readonly kind: 'in'; readonly operand: Operand; readonly candidates: readonly Operand[] }
  | { readonly kind: 'call'; readonly name: PredicateName; readonly operands: readonly Operand[] }

export type Operand =
  | { readonly kind: 'path'; readonly path: DocumentPath }
  | { readonly kind: 'value'; readonly value: AttributeValue }
  | { readonly kind: 'size'; readonly operand: Operand }

/** The type that an operand has in every item, or undefined when the item decides. */
export function staticTypeOf(operand: Operand): AttributeType | undefined {
  if (operand.kind === 'value') return typeOf(operand.value)
  return operand.kind === 'size' ? 'N' : undefined
}
