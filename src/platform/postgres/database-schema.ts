import type { Generated, GeneratedAlways } from 'kysely'

import type { BucketTables } from './bucket-tables.ts'
import type { EnvVarTables } from './env-var-tables.ts'
import type { IacTables } from './iac-tables.ts'
import type { IdentityTables } from './identity-tables.ts'
import type { JobTables } from './job-tables.ts'
import type { StoredTables } from './stored-tables.ts'
import type { TableTransactionTables } from './table-transaction-tables.ts'

/** The schema of `migrations/`, as queries see it. JSON columns are `unknown` until a model parses them. */
export interface DatabaseSchema
  extends
    IdentityTables,
    EnvVarTables,
    BucketTables,
    JobTables,
    IacTables,
    StoredTables,
    TableTransactionTables {
  instance: InstanceTable
  site: SiteTable
  site_key: SiteKeyTable
  deployment: DeploymentTable
  outbound_message: OutboundMessageTable
  idempotent_answer: IdempotentAnswerTable
  data_resource: DataResourceTable
  data_operation: DataOperationTable
  site_runtime: SiteRuntimeTable
  site_revision: SiteRevisionTable
  runtime_log: RuntimeLogTable
  runtime_usage: RuntimeUsageTable
}

interface InstanceTable {
  name: string
  value: unknown
  created_at: Generated<Date>
}

interface SiteTable {
  site_id: string
  domain: string
  region: string
  source_mode: 'EXTERNAL_REPO' | 'SITE_GIT'
  repo: unknown
  repo_binding: unknown
  deployment_settings: unknown
  current_deployment_id: string | null
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

interface SiteKeyTable {
  site_id: string
  wrapped_key: Buffer
  created_at: Generated<Date>
}

interface DeploymentTable {
  site_id: string
  deployment_id: string
  status: 'uploading' | 'ready' | 'failed'
  source: unknown
  artifact_directory: string
  files: unknown
  error: string | null
  created_at: Generated<Date>
  activated_at: Date | null
}

interface OutboundMessageTable {
  site_id: string
  message_id: string
  kind: string
  recipient: string
  status: 'queued' | 'sent' | 'captured' | 'failed'
  sealed: Buffer | null
  attempts: Generated<number>
  error: string | null
  created_at: Generated<Date>
  finished_at: Date | null
}

interface IdempotentAnswerTable {
  site_id: string
  scope: string
  key_hash: Buffer
  request_digest: Buffer
  answer: unknown
  created_at: Generated<Date>
  expires_at: Date
}

interface DataResourceTable {
  site_id: string
  resource_id: string
  type: 'ddbTable' | 's3Bucket' | 'lambdaFunction'
  name: string
  config: unknown
  created_at: Generated<Date>
  updated_at: Generated<Date>
  /** Postgres computes these two from the config. */
  code_bytes: GeneratedAlways<number>
  granted: GeneratedAlways<unknown>
}

interface DataOperationTable {
  site_id: string
  operation: string
  lambda_resource_id: string | null
  preset: unknown
  auth: unknown
  cache_ttl_seconds: Generated<number>
  version: Generated<string>
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

interface SiteRuntimeTable {
  site_id: string
  sync_status: 'queued' | 'running' | 'succeeded' | 'failed'
  requested: Generated<string>
  synced: Generated<string>
  current_revision: number | null
  error: string | null
  updated_at: Generated<Date>
}

interface SiteRevisionTable {
  site_id: string
  revision: number
  document: unknown
  created_at: Generated<Date>
}

interface RuntimeLogTable {
  site_id: string
  log_id: Generated<string>
  at: Date
  level: 'debug' | 'info' | 'warn' | 'error'
  kind: 'console' | 'failure' | 'platform'
  operation: string | null
  request_id: string | null
  message: string
  fields: unknown
}

interface RuntimeUsageTable {
  site_id: string
  hour: Date
  operation: string
  calls: string
  errors: string
  cache_hits: string
  cpu_us: string
  wall_us: string
}
