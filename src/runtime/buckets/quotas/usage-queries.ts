import { type RawBuilder, sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { ObjectName, ObjectUsage, BucketUsage } from './model.ts'

export interface BucketUsageRow extends BucketUsage {
  readonly version: string
  readonly removedVersion: string
  readonly upkeepAt: Date | null
  readonly touchedAt: Date
  readonly recountedAt: Date
  readonly recountAfter: unknown
}

/** Bytes are counted far below where a double has gaps. */
const USAGE = sql<BucketUsageRow>`
  used_bytes::float8 as "usedBytes", used_objects::float8 as "usedObjects",
  charged_bytes::float8 as "chargedBytes", charged_objects::float8 as "chargedObjects", version,
  removed_version as "removedVersion", upkeep_at as "upkeepAt", touched_at as "touchedAt",
  recounted_at as "recountedAt", recount_after as "recountAfter"`

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
  const { rows } = await sql<LockedObject>`
    select ${USAGE}, size_bytes::float8 as "sizeBytes", reserved_bytes::float8 as "reservedBytes",
      object_version as "objectVersion"
    from bucket_account(${tx.siteId}, ${bucketId}, ${key}, ${touchedAt ?? null}::timestamptz)`.execute(
    tx.db,
  )
  const [row] = rows
  if (!row) return undefined
  const { sizeBytes, reservedBytes, objectVersion: version, ...usage } = row
  const object = {
    sizeBytes: sizeBytes ?? undefined,
    reservedBytes: reservedBytes ?? undefined,
    version,
  }
  return { ...usage, object }
}

interface LockedObject extends BucketUsageRow {
  readonly sizeBytes: number | null
  readonly reservedBytes: number | null
  readonly objectVersion: string
}

/** The same lock, for work on no object. Undefined when the site has no accounts. */
export const lockBucketUsage = (tx: SiteTx): Promise<BucketUsageRow | undefined> =>
  selectBucketUsage(tx, sql`for update`)

export async function selectBucketUsage(
  tx: SiteTx,
  lock: RawBuilder<unknown> = sql``,
): Promise<BucketUsageRow | undefined> {
  const { rows } = await sql<BucketUsageRow>`
    select ${USAGE} from bucket_usage where site_id = ${tx.siteId} ${lock}`.execute(tx.db)
  return rows[0]
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
