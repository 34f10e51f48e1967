import type { Generated } from 'kysely'

/** The accounts of the buckets. */
export interface BucketTables {
  bucket_usage: BucketUsageTable
  bucket_object: BucketObjectTable
  bucket_reservation: BucketReservationTable
}

interface BucketUsageTable {
  site_id: string
  used_bytes: Generated<string>
  used_objects: Generated<string>
  charged_bytes: Generated<string>
  charged_objects: Generated<string>
  version: Generated<string>
  removed_version: Generated<string>
  upkeep_at: Date | null
  touched_at: Generated<Date>
  recounted_at: Generated<Date>
  recount_after: unknown
}

interface BucketObjectTable {
  site_id: string
  bucket_id: string
  object_key: string
  size_bytes: string | null
  reserved_bytes: string | null
  version: string
}

interface BucketReservationTable {
  site_id: string
  reservation_id: string
  bucket_id: string
  object_key: string
  size_bytes: string
  kind: 'write' | 'url'
  version: string
  expires_at: Date
}
