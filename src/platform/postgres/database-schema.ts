import type { Generated } from 'kysely'

import type { IdentityTables } from './identity-tables.ts'
import type { MailTables } from './mail-tables.ts'
import type { RuntimeTables } from './runtime-tables.ts'
import type { StoreTables } from './store-tables.ts'

/** The schema of `migrations/`, as queries see it. JSON columns are `unknown` until a model parses them. */
export type DatabaseSchema = InstanceTables & {
  [Name in keyof SiteTables]: SiteTables[Name] & { site_id: string }
}

interface InstanceTables {
  instance: {
    name: string
    value: unknown
    created_at: Generated<Date>
  }
}

/** What is of one site: every row says of which. */
interface SiteTables extends IdentityTables, MailTables, RuntimeTables, StoreTables {
  site: {
    domain: string
    admin_domain: string | null
    auth_domain: string | null
    former_auth_domains: Generated<string[]>
    region: string
    source_mode: 'EXTERNAL_REPO' | 'SITE_GIT'
    repo: unknown
    repo_binding: unknown
    deployment_settings: unknown
    current_deployment_id: string | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  site_host: {
    host: string
  }
  site_branding: {
    color: Generated<string | null>
    logo: Generated<Buffer | null>
    logo_type: Generated<'image/png' | 'image/jpeg' | 'image/webp' | null>
    logo_version: Generated<string | null>
    updated_at: Date
  }
  site_key: {
    wrapped_key: Buffer
    created_at: Generated<Date>
  }
  site_import: {
    domain: string
    started_at: Date
    alive_at: Date
  }
  deployment: {
    deployment_id: string
    status: 'uploading' | 'ready' | 'failed' | 'removed'
    source: unknown
    artifact_directory: string
    files: unknown
    file_count: Generated<number>
    size_bytes: Generated<string>
    error: string | null
    deployed_by: unknown
    git: unknown
    created_at: Generated<Date>
    activated_at: Date | null
  }
  deployment_activation: {
    activation_number: number
    deployment_id: string
    replaced_id: string | null
    reason: 'deploy' | 'rollback' | 'automaticRollback'
    activated_by: unknown
    activated_at: Date
    files_added: number | null
    files_changed: number | null
    files_removed: number | null
    calls: Generated<number>
    failures: Generated<number>
    rollback_status: 'due' | 'done' | 'failed' | null
    rollback_error: string | null
  }
  static_manifest: {
    deployment_id: string
    manifest: unknown
  }
  site_repository: {
    version: string
  }
  site_repository_ref: {
    name: string
    oid: string
  }
  site_repository_pack: {
    pack: string
    object_id: string
    size_bytes: string
    created_at: Date
  }
  outbound_message: {
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
  idempotent_answer: {
    scope: string
    key_hash: Buffer
    request_digest: Buffer
    answer: unknown
    created_at: Generated<Date>
    expires_at: Date
  }
}
