import type { AttributeValue, SetValue } from '#runtime/tables/items/attribute-value.ts'

import type { DocumentPath } from './document-path.ts'
import type { ArithmeticOperator } from './syntax.ts'

/** An update with its names and values in place. */
export interface Update {
  readonly actions: readonly UpdateAction[]
  /** The paths that the update writes, in the order of its text. */
  readonly targets: readonly DocumentPath[]
  /** Every path that it writes or reads. */
  readonly paths: readonly DocumentPath[]
}

/** The update of a request that has no update expression. */
export const NO_UPDATE: Update = { actions: [], targets: [], paths: [] }

export type UpdateAction =
  | { readonly section: 'SET'; readonly path: DocumentPath; readonly value: UpdateValue }
  | { readonly section: 'REMOVE'; readonly path: DocumentPath }
  | {
      readonly section: 'ADD'
      readonly path: DocumentPath
      readonly value: SetValue | { readonly N: string }
    }
  | { readonly section: 'DELETE'; readonly path: DocumentPath; readonly value: SetValue }

export type UpdateValue =
  | { readonly kind: 'value'; readonly value: AttributeValue }
  | { readonly kind: 'path'; readonly path: DocumentPath }
  | {
      readonly kind: 'ifNotExists'
      readonly path: DocumentPath
      readonly otherwise: UpdateValue
    }
  | { readonly kind: 'listAppend'; readonly operands: readonly [UpdateValue, UpdateValue] }
  | {
      readonly kind: 'arithmetic'
      readonly operator: ArithmeticOperator
      readonly operands: readonly [UpdateValue, UpdateValue]
    }
