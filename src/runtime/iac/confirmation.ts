import { AppError } from '#base/app-error.ts'
import { firstOf } from '#base/in-use.ts'
import type { Change } from '#runtime/definitions/plan.ts'
import { type ResourceContents, contentsText } from '#runtime/resources/contents.ts'

type Deletion = Pick<Change, 'section' | 'name'>
/** What tables and buckets hold that would go, by name. */
type DeletedContents = ReadonlyMap<string, ResourceContents>

/** How a job remembers what it may delete. A section has no space in it. */
export const deletionKey = ({ section, name }: { section: string; name: string }): string =>
  `${section} ${name}`

export const deletionsIn = (changes: readonly Change[]): Deletion[] =>
  changes
    .filter(({ action }) => action === 'delete')
    .map(({ section, name }) => ({ section, name }))

/** The error that names what would be deleted without consent; undefined when there is nothing of the kind. */
export function confirmationError(
  changes: readonly Change[],
  agreed: readonly string[],
  contents: DeletedContents = new Map(),
): AppError | undefined {
  const known = new Set(agreed)
  const all = deletionsIn(changes)
  const unknown = all.filter((deletion) => !known.has(deletionKey(deletion)))
  if (unknown.length === 0) return undefined
  const contentsOf = ({ section, name }: Deletion) =>
    (section === 'resources' ? contents.get(name) : undefined) ?? {}
  const what = firstOf(
    unknown.map((deletion) => {
      const held = contentsText(contentsOf(deletion))
      return `${deletion.section} "${deletion.name}"${held === undefined ? '' : ` with ${held}`}`
    }),
  )
  const message =
    agreed.length === 0
      ? `This would delete ${what}: send "confirm": true to agree. Nothing was changed`
      : `This would also delete ${what}, which was not agreed to: look again and confirm that. Nothing was changed`
  return new AppError('ConfirmationRequired', message, {
    fields: { deletions: all.map((deletion) => ({ ...deletion, ...contentsOf(deletion) })) },
  })
}
