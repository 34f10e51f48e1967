import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { ObjectName, ObjectUsage, BucketUsage } from './model.ts'

export interface ObjectUsageRow extends ObjectUsage {
  readonly version: string
}

/** Keys that have an object, in order, with the sizes that were last seen. */
export async function selectSizes(
  tx: SiteTx,
  bucketId: string,
  range: { readonly after: string; readonly upTo: string | undefined; readonly limit: number },
): Promise<Map<string, number>> {
  const rows = await tx.db
    .selectFrom('bucket_object')
    .select(['object_key', 'size_bytes'])
    .where('site_id', '=', tx.siteId)
    .where('bucket_id', '=', bucketId)
    .where('object_key', '>', range.after)
    .where('size_bytes', 'is not', null)
    .$if(range.upTo !== undefined, (query) => query.where('object_key', '<=', range.upTo ?? ''))
    .orderBy('object_key')
    .limit(range.limit)
    .execute()
  return new Map(rows.map((row) => [row.object_key, Number(row.size_bytes)]))
}

/** Writes what is known of an object, and what that adds to its site, in one round trip. */
export async function upsertObjectUsage(
  tx: SiteTx,
  { bucketId, key }: ObjectName,
  { sizeBytes, reservedBytes, version }: ObjectUsageRow,
  more: BucketUsage,
): Promise<void> {
  await sql`
    with object as (
      insert into bucket_object (site_id, bucket_id, object_key, size_bytes, reserved_bytes, version)
      values (${tx.siteId}, ${bucketId}, ${key}, ${textOf(sizeBytes)}::bigint,
              ${textOf(reservedBytes)}::bigint, ${version}::bigint)
      on conflict (site_id, bucket_id, object_key) do update
      set size_bytes = excluded.size_bytes, reserved_bytes = excluded.reserved_bytes,
          version = excluded.version
    )
    update bucket_usage
    set used_bytes = used_bytes + ${more.usedBytes}::bigint,
        used_objects = used_objects + ${more.usedObjects}::bigint,
        charged_bytes = charged_bytes + ${more.chargedBytes}::bigint,
        charged_objects = charged_objects + ${more.chargedObjects}::bigint,
        version = greatest(version, ${version}::bigint)
    where site_id = ${tx.siteId}`.execute(tx.db)
}

export async function deleteObjectUsage(tx: SiteTx, { bucketId, key }: ObjectName): Promise<void> {
  await tx.db
    .deleteFrom('bucket_object')
    .where('site_id', '=', tx.siteId)
    .where('bucket_id', '=', bucketId)
    .where('object_key', '=', key)
    .execute()
}

/** Rows without a reservation, up to that key; all of them without one. Gives back what they counted. */
export async function deleteUnreservedUsage(
  tx: SiteTx,
  bucketId: string,
  upTo: string | undefined,
): Promise<{ readonly objects: number; readonly bytes: number }> {
  const { rows } = await sql<{ objects: string; bytes: string }>`
    with gone as (
      delete from bucket_object
      where site_id = ${tx.siteId} and bucket_id = ${bucketId} and reserved_bytes is null
        and (${upTo ?? null}::text is null or object_key <= ${upTo ?? null}::text)
      returning size_bytes
    )
    select count(*) as objects, coalesce(sum(size_bytes), 0) as bytes from gone`.execute(tx.db)
  return { objects: Number(rows[0]?.objects ?? 0), bytes: Number(rows[0]?.bytes ?? 0) }
}

/** What is known of the first `most` objects of a bucket. */
export async function selectBucketContents(
  tx: SiteTx,
  bucketId: string,
  most: number,
): Promise<{ readonly objects: number; readonly bytes: number; readonly isAll: boolean }> {
  const { rows } = await sql<{ looked: number; objects: number; bytes: number }>`
    select count(*)::int as looked, count(size_bytes)::int as objects,
      coalesce(sum(size_bytes), 0)::float8 as bytes
    from (
      select size_bytes from bucket_object
      where site_id = ${tx.siteId} and bucket_id = ${bucketId} limit ${most}
    ) first`.execute(tx.db)
  const { looked = 0, objects = 0, bytes = 0 } = rows[0] ?? {}
  return { objects, bytes, isAll: looked < most }
}

/** Buckets that are there, and those that still have accounts, by id. */
export async function selectBucketsWithUsage(tx: SiteTx): Promise<string[]> {
  const { rows } = await sql<{ bucket_id: string }>`
    select resource_id collate "C" as bucket_id from data_resource
    where site_id = ${tx.siteId} and type = 's3Bucket'
    union select distinct bucket_id collate "C" from bucket_object where site_id = ${tx.siteId}
    order by bucket_id`.execute(tx.db)
  return rows.map((row) => row.bucket_id)
}

const textOf = (value: number | undefined): string | null =>
  value === undefined ? null : String(value)
