import type { Generated, GeneratedAlways } from 'kysely'

/** The control plane of the data runtime, and what its calls leave behind. Each table has `site_id`, too. */
export interface RuntimeTables {
  data_resource: {
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
  data_operation: {
    operation: string
    lambda_resource_id: string | null
    preset: unknown
    auth: unknown
    cache_ttl_seconds: Generated<number>
    http: Generated<boolean>
    version: Generated<string>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  site_runtime: {
    sync_status: 'queued' | 'running' | 'succeeded' | 'failed'
    requested: Generated<string>
    synced: Generated<string>
    current_revision: number | null
    error: string | null
    updated_at: Generated<Date>
  }
  site_revision: {
    revision: number
    document: unknown
    created_at: Generated<Date>
  }
  runtime_log: {
    log_id: Generated<string>
    at: Date
    level: 'debug' | 'info' | 'warn' | 'error'
    kind: 'console' | 'failure' | 'platform'
    operation: string | null
    request_id: string | null
    message: string
    fields: unknown
  }
  runtime_usage: {
    hour: Date
    operation: string
    calls: string
    errors: string
    cache_hits: string
    cpu_us: string
    wall_us: string
  }
  env_var: {
    name: string
    secret: boolean
    storage_backend: 'ssmSecureString' | 'ssmString'
    sealed: Buffer
    created_at: Generated<Date>
    updated_at: Date
  }
  data_job: {
    job_id: string
    operation: string
    payload: unknown
    schedule: unknown
    scheduled_since: Date
    auth: unknown
    enabled: Generated<boolean>
    last_tick: Date | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  data_job_due: {
    job_id: string
    due_at: Date
    set_at: Generated<Date>
  }
  data_job_run: {
    run_id: string
    job_id: string
    run_number: Generated<string>
    status: 'queued' | 'running' | 'succeeded' | 'failed' | 'timedOut' | 'skipped'
    trigger: string
    scheduled_for: Date | null
    missed: Generated<number>
    operation: string | null
    request_id: string
    attempts: Generated<number>
    result: string | null
    result_bytes: number | null
    error: unknown
    created_at: Generated<Date>
    started_at: Date | null
    finished_at: Date | null
  }
  iac_definition: {
    profile_name: string
    definition: unknown
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  iac_job: {
    job_number: Generated<string>
    job_id: string
    mode: 'plan' | 'apply' | 'replace'
    source: 'inline' | 'profile' | 'deployment'
    profile_name: string | null
    deployment_id: string | null
    persisted: boolean
    agreed: Generated<string[]>
    requested_by: string
    sealed: Buffer | null
    status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
    attempts: Generated<number>
    error: string | null
    created_at: Generated<Date>
    started_at: Date | null
    finished_at: Date | null
  }
  iac_change: {
    job_number: string
    position: number
    section: 'envVars' | 'groups' | 'resources' | 'operations' | 'jobs'
    name: string
    action: 'create' | 'update' | 'rename' | 'delete' | 'none'
    fields: string[]
    status: 'pending' | 'planned' | 'unchanged' | 'succeeded' | 'failed' | 'skipped'
    error: string | null
    renamed_from: string | null
  }
}
