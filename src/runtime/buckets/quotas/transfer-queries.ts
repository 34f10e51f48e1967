import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { ObjectName } from './model.ts'

/** Objects that came before the first write to their buckets. */
export async function insertObjects(
  tx: SiteTx,
  objects: readonly (ObjectName & { readonly sizeBytes: number })[],
): Promise<void> {
  await tx.db
    .insertInto('bucket_object')
    .values(
      objects.map(({ bucketId, key, sizeBytes }) => ({
        site_id: tx.siteId,
        bucket_id: bucketId,
        object_key: key,
        size_bytes: String(sizeBytes),
        version: '1',
      })),
    )
    .execute()
}

/** The account of those objects. The first write plans its upkeep. */
export async function insertBucketUsage(tx: SiteTx, now: Date): Promise<void> {
  await sql`
    insert into bucket_usage (site_id, used_bytes, used_objects, charged_bytes, charged_objects, version,
      touched_at, recounted_at)
    select ${tx.siteId}, coalesce(sum(size_bytes), 0), count(*), coalesce(sum(size_bytes), 0), count(*), 1,
      ${now}::timestamptz, ${now}::timestamptz
    from bucket_object where site_id = ${tx.siteId}`.execute(tx.db)
}
