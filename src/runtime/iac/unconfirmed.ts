import { AppError } from '#base/app-error.ts'
import type { Change } from '#runtime/definitions/plan.ts'

/** Names in the message; the fields of the error have all of them. */
const SHOWN = 20

/** The refusal that names what would be deleted; undefined when nothing would. */
export function unconfirmed(changes: readonly Change[]): AppError | undefined {
  const deletions = changes.filter(({ action }) => action === 'delete')
  if (deletions.length === 0) return undefined
  const names = deletions.slice(0, SHOWN).map(({ section, name }) => `${section} "${name}"`)
  const more = deletions.length > SHOWN ? ` and ${deletions.length - SHOWN} more` : ''
  return new AppError(
    'ConfirmationRequired',
    `This would delete ${names.join(', ')}${more}: send "confirm": true to agree. Nothing was changed`,
    { fields: { deletions: deletions.map(({ section, name }) => ({ section, name })) } },
  )
}
