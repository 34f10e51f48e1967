import { invalidRequest } from '#runtime/tables/fault.ts'

import { type SetType, type SetValue, setOf } from './attribute-value.ts'

const INVALID = 'One or more parameter values were invalid: '
const EMPTY = {
  SS: `${INVALID}An string set  may not be empty`,
  NS: `${INVALID}An number set  may not be empty`,
  BS: `${INVALID}Binary sets should not be empty`,
} as const satisfies Record<SetType, string>

const NULL_MEMBER = {
  SS: `${INVALID}An string set may not have a null string as a member`,
  NS: `${INVALID}An number set may not have a null string as a member`,
  BS: `${INVALID}Binary sets may not contain null or empty values`,
} as const satisfies Record<SetType, string>

export function checkNoNull(type: SetType, members: readonly unknown[]): void {
  if (members.includes(null)) throw invalidRequest(NULL_MEMBER[type])
}

/** A set of canonical members, which has at least one, and none twice. */
export function checkedSet(type: SetType, members: readonly string[]): SetValue {
  if (members.length === 0) throw invalidRequest(EMPTY[type])
  if (new Set(members).size < members.length) throw invalidRequest(duplicates(type, members))
  return setOf(type, members)
}

function duplicates(type: SetType, members: readonly string[]): string {
  const listed = `${INVALID}Input collection [${members.join(', ')}]`
  switch (type) {
    case 'SS':
      return `${listed} contains duplicates.`
    case 'BS':
      return `${listed}of type BS contains duplicates.`
    case 'NS':
      return 'Input collection contains duplicates'
    default:
      return type satisfies never
  }
}
