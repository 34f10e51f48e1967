import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { isStorable } from '#base/storable-text.ts'

export const MAX_GROUPS = 1000
/** The groups that one visitor may be in: a token that names them all must still fit into a header. */
export const MAX_GROUPS_OF_USER = 100
export const MAX_GROUP_CLAIM_BYTES = 4096

const MAX_NAME = 128
/** Cognito's letters for a group: anything that is visible, and no blanks. */
const VISIBLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]+$/u

export const NewDataGroup = Type.Object(
  {
    groupName: Type.String({ minLength: 1, maxLength: MAX_NAME }),
    description: Type.Optional(Type.String({ maxLength: 2048 })),
  },
  { additionalProperties: false },
)
export type NewDataGroup = Static<typeof NewDataGroup>

export const DataGroup = Type.Object(
  { groupName: Type.String(), description: Type.String() },
  { title: 'Group' },
)
export type DataGroup = Static<typeof DataGroup>

export interface GroupMember {
  readonly sub: string
  readonly email: string
  readonly addedAt: Date
}

export function parseGroup({ groupName, description = '' }: NewDataGroup): DataGroup {
  // A path cannot carry the two dots as a segment.
  if (!VISIBLE.test(groupName) || groupName === '.' || groupName === '..') {
    throw invalid(
      'groupName',
      'must be 1 to 128 letters, digits, punctuation or symbols, no blanks',
    )
  }
  if (!isStorable(description)) {
    throw invalid('description', 'must be text without NUL')
  }
  return { groupName, description }
}
