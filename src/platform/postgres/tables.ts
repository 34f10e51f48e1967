import type { Generated } from 'kysely'

/** The schema of `migrations/`, as queries see it. JSON columns are `unknown` until a model parses them. */
export interface Tables {
  instance: InstanceTable
  site: SiteTable
  site_key: SiteKeyTable
  deployment: DeploymentTable
  user_pool: UserPoolTable
  pool_client: PoolClientTable
  signing_key: SigningKeyTable
  pool_user: PoolUserTable
  user_invite: UserInviteTable
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

interface UserPoolTable {
  site_id: string
  user_pool_id: string
  kind: 'admin' | 'data'
  created_at: Generated<Date>
}

interface PoolClientTable {
  site_id: string
  client_id: string
  user_pool_id: string
  purpose: 'default'
  created_at: Generated<Date>
}

interface SigningKeyTable {
  site_id: string
  user_pool_id: string
  kid: string
  alg: string
  public_jwk: unknown
  sealed_private: Buffer
  created_at: Generated<Date>
  retired_at: Date | null
  expires_at: Date | null
}

interface PoolUserTable {
  site_id: string
  user_pool_id: string
  sub: string
  email: string
  email_verified: Generated<boolean>
  external_email: string | null
  role: 'user' | 'admin' | 'super-admin' | null
  status: 'INVITED' | 'ACTIVE'
  origin: 'invite' | 'operator'
  tokens_valid_after: Generated<Date>
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

interface UserInviteTable {
  site_id: string
  token_hash: Buffer
  user_pool_id: string
  sub: string
  expires_at: Date
  used_at: Date | null
  created_at: Generated<Date>
}

interface DataResourceTable {
  site_id: string
  resource_id: string
  type: 'ddbTable' | 's3Bucket' | 'lambdaFunction'
  name: string
  config: unknown
  created_at: Generated<Date>
  updated_at: Generated<Date>
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
