import { AppError } from '#base/app-error.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { Resource, ResourceType } from './model.ts'

/** What a table or bucket held when it was looked at; more may have come since. */
export interface ResourceContents {
  /** Of a table; those that have expired do not count. */
  readonly items?: number
  /** Of a bucket, as its accounts know it. */
  readonly objects?: number
  readonly bytes?: number
  /** Counting ended before the contents did: there are more. */
  readonly atLeast?: true
}

/** Looks at the first `most` of what a resource holds. */
export type ContentsOf = (
  tx: SiteTx,
  resource: Pick<Resource, 'type' | 'resourceId'>,
  most: number,
) => Promise<ResourceContents>

/** Rows that one answer counts at most, of all resources that it is about; and of each at least. */
const MOST_COUNTED = 10_000
const MOST_OF_MANY = 50_000
const LEAST_OF_EACH = 100

/** How far to count each of so many. */
export const countedOfEach = (resources: number): number =>
  Math.max(LEAST_OF_EACH, Math.min(MOST_COUNTED, Math.floor(MOST_OF_MANY / resources)))

/** `3 items`, `at least 10000 objects (12345 bytes)`; undefined for what is empty or holds nothing by its nature. */
export function contentsText({
  items,
  objects,
  bytes,
  atLeast,
}: ResourceContents): string | undefined {
  const [count, noun] = items === undefined ? [objects ?? 0, 'object'] : [items, 'item']
  if (count === 0) return undefined
  const size = bytes === undefined ? '' : ` (${bytes} bytes)`
  return `${atLeast ? 'at least ' : ''}${count} ${noun}${count === 1 ? '' : 's'}${size}`
}

/** The refusal to delete something that holds something; undefined for what does not. */
export function unconfirmedDeletion(
  { type, name }: { readonly type: ResourceType; readonly name: string },
  contents: ResourceContents,
): AppError | undefined {
  const held = contentsText(contents)
  if (held === undefined) return undefined
  const thing = type === 'ddbTable' ? 'Table' : 'Bucket'
  return new AppError(
    'ConfirmationRequired',
    `${thing} "${name}" holds ${held} at the moment, and would be deleted permanently with all that it holds by then: send "confirm": true. Nothing was changed`,
    { fields: { contents } },
  )
}
