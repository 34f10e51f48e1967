import type { Generated } from 'kysely'

/** What the tables of sites are made of. */
export interface StoredTables {
  table_layout: TableLayoutTable
  table_index: TableIndexTable
  table_item: TableItemTable
  table_index_entry: TableIndexEntryTable
}

interface TableLayoutTable {
  site_id: string
  table_id: string
  generation: Generated<number>
  ttl_attribute: string | null
  last_index_id: Generated<number>
  built_hash: Buffer | null
  built_sort: Buffer | null
}

interface TableIndexTable {
  site_id: string
  table_id: string
  index_id: number
  name: string
  partition_key: unknown
  sort_key: unknown
  status: 'building' | 'active' | 'removing'
}

interface TableItemTable {
  site_id: string
  table_id: string
  partition_hash: Buffer
  sort_key: Buffer
  size_bytes: number
  /** Comes as text: it is a `bigint`. */
  expires_at: string | null
  body: string
  index_ids: number[] | null
  index_hashes: Buffer[] | null
  index_sorts: Buffer[] | null
}

interface TableIndexEntryTable {
  site_id: string
  table_id: string
  index_id: number
  partition_hash: Buffer
  sort_key: Buffer
  item_hash: Buffer
  item_sort: Buffer
}
