import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { ObjectName, ObjectUsage, BucketUsage } from './model.ts'

interface StoredUsage {
  readonly used_bytes: string
  readonly used_objects: string
  readonly charged_bytes: string
  readonly charged_objects: string
  readonly version: string
  readonly removed_version: string
  readonly upkeep_at: Date | null
  readonly touched_at: Date
  readonly recounted_at: Date
  readonly recount_after: unknown
}

interface StoredAccount extends StoredUsage {
  readonly size_bytes: string | null
  readonly reserved_bytes: string | null
  readonly object_version: string
}

export interface BucketUsageRow extends BucketUsage {
  readonly version: string
  readonly removedVersion: string
  readonly upkeepAt: Date | null
  readonly touchedAt: Date
  readonly recountedAt: Date
  readonly recountAfter: unknown
}

const USAGE = [
  'used_bytes',
  'used_objects',
  'charged_bytes',
  'charged_objects',
  'version',
  'removed_version',
  'upkeep_at',
  'touched_at',
  'recounted_at',
  'recount_after',
] as const
/**
 * Holds the site against its deletion and gives back its deployment settings; undefined without such a site. To be asked
 * first: a deletion locks the site before what hangs on it.
 */
export async function lockSiteSettings(
  tx: SiteTx,
): Promise<{ readonly deploymentSettings: unknown } | undefined> {
  const row = await tx.db
    .selectFrom('site')
    .select('deployment_settings')
    .where('site_id', '=', tx.siteId)
    .forKeyShare()
    .executeTakeFirst()
  return row && { deploymentSettings: row.deployment_settings }
}

/** Holds the bucket against its deletion; false when it is gone. */
export async function lockBucket(tx: SiteTx, bucketId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('data_resource')
    .select('resource_id')
    .where('site_id', '=', tx.siteId)
    .where('resource_id', '=', bucketId)
    .where('type', '=', 's3Bucket')
    .forKeyShare()
    .executeTakeFirst()
  return row !== undefined
}

export interface LockedUsage extends BucketUsageRow {
  /** The usage of the object that was asked for. */
  readonly object: ObjectUsage & { readonly version: string }
}

/**
 * The accounts of a site and what is known of one object, in one round trip and under the lock that all changes of a
 * site's accounts hold, for a few statements. With `touchedAt` they are made when there are none.
 */
export async function lockObjectUsage(
  tx: SiteTx,
  { bucketId, key }: ObjectName,
  touchedAt?: Date,
): Promise<LockedUsage | undefined> {
  const { rows } = await sql<StoredAccount>`
    select * from bucket_account(${tx.siteId}, ${bucketId}, ${key}, ${touchedAt ?? null}::timestamptz)`.execute(
    tx.db,
  )
  const [row] = rows
  if (!row) return undefined
  const object = {
    sizeBytes: row.size_bytes === null ? undefined : Number(row.size_bytes),
    reservedBytes: row.reserved_bytes === null ? undefined : Number(row.reserved_bytes),
    version: row.object_version,
  }
  return { ...toUsage(row), object }
}

/** The same lock, for work on no object. Undefined when the site has no accounts. */
export async function lockBucketUsage(tx: SiteTx): Promise<BucketUsageRow | undefined> {
  const row = await tx.db
    .selectFrom('bucket_usage')
    .select(USAGE)
    .where('site_id', '=', tx.siteId)
    .forUpdate()
    .executeTakeFirst()
  return row && toUsage(row)
}

export async function selectBucketUsage(tx: SiteTx): Promise<BucketUsageRow | undefined> {
  const row = await tx.db
    .selectFrom('bucket_usage')
    .select(USAGE)
    .where('site_id', '=', tx.siteId)
    .executeTakeFirst()
  return row && toUsage(row)
}

/** For where rows of objects were removed. */
export async function addBucketUsage(
  tx: SiteTx,
  more: BucketUsage,
  removedVersion: string,
): Promise<void> {
  await tx.db
    .updateTable('bucket_usage')
    .set({
      used_bytes: sql`used_bytes + ${more.usedBytes}::bigint`,
      used_objects: sql`used_objects + ${more.usedObjects}::bigint`,
      charged_bytes: sql`charged_bytes + ${more.chargedBytes}::bigint`,
      charged_objects: sql`charged_objects + ${more.chargedObjects}::bigint`,
      version: removedVersion,
      removed_version: removedVersion,
    })
    .where('site_id', '=', tx.siteId)
    .execute()
}

export async function setUpkeep(tx: SiteTx, upkeepAt: Date | null): Promise<void> {
  await tx.db
    .updateTable('bucket_usage')
    .set({ upkeep_at: upkeepAt })
    .where('site_id', '=', tx.siteId)
    .execute()
}

/** `after` is where it goes on; undefined when it is done. */
export async function setRecount(
  tx: SiteTx,
  recount:
    | { readonly after: { readonly bucketId: string; readonly key: string } }
    | { readonly doneAt: Date },
): Promise<void> {
  await tx.db
    .updateTable('bucket_usage')
    .set(
      'after' in recount
        ? { recount_after: JSON.stringify(recount.after) }
        : { recount_after: null, recounted_at: recount.doneAt },
    )
    .where('site_id', '=', tx.siteId)
    .execute()
}

const toUsage = (row: StoredUsage): BucketUsageRow => ({
  usedBytes: Number(row.used_bytes),
  usedObjects: Number(row.used_objects),
  chargedBytes: Number(row.charged_bytes),
  chargedObjects: Number(row.charged_objects),
  version: row.version,
  removedVersion: row.removed_version,
  upkeepAt: row.upkeep_at,
  touchedAt: row.touched_at,
  recountedAt: row.recounted_at,
  recountAfter: row.recount_after,
})
