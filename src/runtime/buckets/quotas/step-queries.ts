import type { Database } from '#platform/postgres/database.ts'
import { query } from '#platform/postgres/query-text.ts'
import { bucketLimits } from '#runtime/buckets/bucket-limits.ts'

import type { ObjectName } from './model.ts'
import { UPKEEP_LATE_MS } from './times.ts'

/** What a write asks of its site's accounts before it runs, or tells them after. */
export type BucketStep = ObjectName &
  (
    | {
        readonly kind: 'reserve'
        readonly reservationId: string
        readonly sizeBytes: number
        readonly expiresAt: Date
      }
    /** Which version the object has. */
    | { readonly kind: 'look' }
    | {
        readonly kind: 'settle'
        /** The object's, when the report was seen. */
        readonly version: string
        /** Undefined when there is no such object. */
        readonly sizeBytes: number | undefined
        /** The reservation under which it came, which ends. */
        readonly reservationId: string | undefined
      }
  )

export type StepAnswer =
  | { readonly outcome: 'granted'; readonly version: string }
  | { readonly outcome: 'noBucket' }
  /** More than the quota. */
  | {
      readonly outcome: 'full'
      readonly chargedBytes: number
      readonly chargedObjects: number
      readonly moreBytes: number
      readonly moreObjects: number
      readonly maxBytes: number
      readonly maxObjects: number
    }
  | { readonly outcome: 'settled' }
  /** The object was settled since that version. */
  | { readonly outcome: 'changed' }

/** All steps in one statement, in their order. Undefined when nothing was done because no upkeep is planned. */
export async function takeBucketSteps(
  database: Database,
  siteId: string,
  steps: readonly BucketStep[],
  now: Date,
): Promise<readonly StepAnswer[] | undefined> {
  const { bucketBytes, bucketObjects } = bucketLimits({})
  const overdue = new Date(now.getTime() - UPKEEP_LATE_MS)
  const [row] = await database.statement<{ answers: string | null }>(
    ...query`select bucket_steps(${siteId}, ${JSON.stringify(steps.map(stored))}::text::jsonb, ${now.toISOString()}::text::timestamptz,
       ${overdue.toISOString()}::text::timestamptz, ${`{${bucketBytes},${bucketObjects}}`}::bigint[])::text as answers`,
  )
  // The function's own words.
  return row?.answers === null || row === undefined
    ? undefined
    : (JSON.parse(row.answers) as StepAnswer[])
}

function stored(step: BucketStep): object {
  const { kind, bucketId: bucket, key } = step
  switch (kind) {
    case 'look':
      return { kind, bucket, key }
    case 'reserve': {
      const { reservationId: id, sizeBytes: size, expiresAt: expires } = step
      return { kind, bucket, key, id, size, expires }
    }
    case 'settle': {
      const { reservationId: id, sizeBytes: size, version } = step
      return { kind, bucket, key, id, size, version }
    }
  }
}
