import { validationError } from '#runtime/tables/validation-error.ts'

import { type SetType, type SetValue, setOf } from './attribute-value.ts'

const INVALID = 'One or more parameter values were invalid: '
const EMPTY = {
  SS: `${INVALID}An string set  may not be empty`,
  NS: `${INVALID}An number set  may not be empty`,
  BS: `${INVALID}Binary sets should not be empty`,
} as const satisfies Record<SetType, string>

/** A set of canonical members, which has at least one, and none twice. */
export function checkedSet(type: SetType, members: readonly string[]): SetValue {
  if (members.length === 0) throw validationError(EMPTY[type])
  if (new Set(members).size < members.length) throw validationError(duplicates(type, members))
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
