export interface TableTransactionTables {
  table_transaction: TableTransactionTable
}

interface TableTransactionTable {
  site_id: string
  token_hash: Buffer
  request_digest: Buffer
  expires_at: Date
}
