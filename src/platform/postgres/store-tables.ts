import type { Generated } from 'kysely'

/** What tables and buckets hold, and the accounts of both. Each table has `site_id`, too. */
export interface StoreTables {
  table_layout: {
    table_id: string
    generation: Generated<number>
    ttl_attribute: string | null
    last_index_id: Generated<number>
    built_hash: Buffer | null
    built_sort: Buffer | null
  }
  table_index: {
    table_id: string
    index_id: number
    name: string
    partition_key: unknown
    sort_key: unknown
    status: 'building' | 'active' | 'removing'
  }
  table_item: {
    table_id: string
    partition_hash: Buffer
    sort_key: Buffer
    size_bytes: number
    /** Comes as text: it is a `bigint`. */
    expires_at: string | null
    body: string
  }
  table_index_entry: {
    table_id: string
    index_id: number
    partition_hash: Buffer
    sort_key: Buffer
    item_hash: Buffer
    item_sort: Buffer
  }
  table_transaction: {
    token_hash: Buffer
    request_digest: Buffer
    expires_at: Date
  }
  bucket_usage: {
    used_bytes: Generated<string>
    used_objects: Generated<string>
    charged_bytes: Generated<string>
    charged_objects: Generated<string>
    version: Generated<string>
    removed_version: Generated<string>
    upkeep_at: Date | null
    recounted_at: Generated<Date>
    recount_after: unknown
  }
  bucket_object: {
    bucket_id: string
    object_key: string
    size_bytes: string | null
    version: string
  }
  bucket_reservation: {
    reservation_id: string
    bucket_id: string
    object_key: string
    size_bytes: string
    kind: 'write' | 'url'
    version: string
    expires_at: Date
  }
}
