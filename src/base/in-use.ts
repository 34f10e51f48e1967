import { AppError } from './app-error.ts'

/** Names in the message; the fields of the error have all of them. */
const SHOWN = 20

/** The refusal to delete something: `Group "a" is named by` `operation`s. */
export function inUse(relation: string, user: string, names: readonly string[]): AppError {
  const users = names.length === 1 ? user : `${user}s`
  const shown = firstOf(names.map((name) => `"${name}"`))
  return new AppError(
    'ResourceInUse',
    `${relation} ${users} ${shown}: change or delete them first`,
    { fields: { [`${user}s`]: names } },
  )
}

/** `a, b and 3 more`. */
export function firstOf(items: readonly string[]): string {
  const shown = items.slice(0, SHOWN).join(', ')
  return items.length > SHOWN ? `${shown} and ${items.length - SHOWN} more` : shown
}
