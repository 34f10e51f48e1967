import { type Static, Type } from '@sinclair/typebox'

import { ClosedObject } from '#base/closed-object.ts'

const MAX_TARGETS = 50

/** Addresses of mailboxes of the site, in any state. */
export const AliasTargets = ClosedObject(
  {
    targets: Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
      minItems: 1,
      maxItems: MAX_TARGETS,
      fault: `must be a list of 1 to ${MAX_TARGETS} addresses of mailboxes`,
    }),
  },
  { title: 'AliasTargets' },
)

export const Alias = Type.Object(
  {
    address: Type.String(),
    targets: Type.Array(Type.String()),
  },
  { title: 'Alias' },
)
export type Alias = Static<typeof Alias>

/** An alias as the site keeps it: by local parts. */
export interface StoredAlias {
  readonly localPart: string
  /** Of mailboxes, in their order. */
  readonly targets: string[]
}
