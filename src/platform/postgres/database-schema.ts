// Written by "npm run schema" from the migrated database: do not edit.

import type { Generated, GeneratedAlways } from 'kysely'

/** The schema of `migrations/`, as queries see it. A `bigint` is text; JSON is `unknown` until a model parses it. */
export interface DatabaseSchema {
  account_deletion: {
    site_id: string
    user_pool_id: string
    sub: string
    token_hash: Buffer
    expires_at: Date
    created_at: Generated<Date>
  }
  address_change: {
    site_id: string
    change_id: string
    user_pool_id: string
    sub: string
    old_email: string
    new_email: string
    token_hash: Buffer
    proven_at: Date | null
    expires_at: Date
    created_at: Generated<Date>
    requested_by: string | null
  }
  auth_email_branding: {
    site_id: string
    message_type: 'adminVerificationEmail' | 'dataVerificationEmail'
    subject: string
    html_body: string
    updated_at: Generated<Date>
  }
  authorization_code: {
    site_id: string
    code_hash: Buffer
    user_pool_id: string
    client_id: string
    sub: string
    session_id: string | null
    redirect_uri: string
    code_challenge: string | null
    nonce: string | null
    scope: string
    auth_time: Date
    created_at: Generated<Date>
    expires_at: Date
    used_at: Date | null
    family_id: string | null
  }
  backup_hold: {
    hold_id: string
    started_at: Generated<Date>
    expires_at: Date
  }
  backup_kept_object: {
    hold_id: string
    object_key: string
  }
  bucket_object: {
    site_id: string
    bucket_id: string
    object_key: string
    size_bytes: string | null
    reserved_bytes: string | null
    version: string
  }
  bucket_reservation: {
    site_id: string
    reservation_id: string
    bucket_id: string
    object_key: string
    size_bytes: string
    kind: 'write' | 'url'
    version: string
    expires_at: Date
    holder: string | null
  }
  bucket_usage: {
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
  client_assertion: {
    site_id: string
    client_id: string
    jti_hash: Buffer
    expires_at: Date
  }
  client_consent: {
    site_id: string
    user_pool_id: string
    sub: string
    client_id: string
    scope: string
    granted_at: Date
  }
  contact_recipient: {
    site_id: string
    email: string
    created_at: Date
    updated_at: Date
  }
  data_group: {
    site_id: string
    group_name: string
    description: Generated<string>
    created_at: Generated<Date>
  }
  data_group_member: {
    site_id: string
    group_name: string
    user_pool_id: string
    sub: string
    added_at: Generated<Date>
  }
  data_job: {
    site_id: string
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
    site_id: string
    job_id: string
    due_at: Date
    set_at: Generated<Date>
  }
  data_job_run: {
    site_id: string
    run_id: string
    job_id: string
    run_number: GeneratedAlways<string>
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
  data_operation: {
    site_id: string
    operation: string
    lambda_resource_id: string | null
    preset: unknown
    auth: unknown
    cache_ttl_seconds: Generated<number>
    version: Generated<string>
    created_at: Generated<Date>
    updated_at: Generated<Date>
    http: Generated<boolean>
    input: unknown
    output: unknown
  }
  data_resource: {
    site_id: string
    resource_id: string
    type: 'ddbTable' | 's3Bucket' | 'lambdaFunction'
    name: string
    config: unknown
    created_at: Generated<Date>
    updated_at: Generated<Date>
    code_bytes: GeneratedAlways<number | null>
    granted: GeneratedAlways<unknown>
  }
  deploy_token: {
    site_id: string
    token_id: string
    name: string
    scopes: unknown
    created_by: string
    secret_hash: Buffer
    created_at: Date
    expires_at: Date | null
    last_used_at: Date | null
  }
  deploy_webhook: {
    site_id: string
    sealed_secret: Buffer
    created_at: Date
  }
  deploy_webhook_delivery: {
    site_id: string
    delivery: Buffer
    received_at: Date
  }
  deployment: {
    site_id: string
    deployment_id: string
    status: 'uploading' | 'ready' | 'failed' | 'removed'
    source: unknown
    artifact_directory: string
    files: unknown
    error: string | null
    created_at: Generated<Date>
    activated_at: Date | null
    deployed_by: unknown
    git: unknown
    file_count: Generated<number>
    size_bytes: Generated<string>
  }
  deployment_activation: {
    site_id: string
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
  dkim_key: {
    site_id: string
    number: number
    public_key: string
    sealed_private: Buffer | null
    created_at: Date
    activated_at: Date | null
    superseded_at: Date | null
  }
  env_var: {
    site_id: string
    name: string
    secret: boolean
    storage_backend: 'ssmSecureString' | 'ssmString'
    sealed: Buffer
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  iac_change: {
    site_id: string
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
  iac_definition: {
    site_id: string
    profile_name: string
    definition: unknown
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  iac_job: {
    site_id: string
    job_number: GeneratedAlways<string>
    job_id: string
    mode: 'plan' | 'apply' | 'replace'
    source: 'inline' | 'profile' | 'deployment'
    profile_name: string | null
    deployment_id: string | null
    persisted: boolean
    confirmed: Generated<boolean>
    requested_by: string
    sealed: Buffer | null
    status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
    attempts: Generated<number>
    error: string | null
    created_at: Generated<Date>
    started_at: Date | null
    finished_at: Date | null
    agreed: Generated<string[]>
  }
  idempotent_answer: {
    site_id: string
    scope: string
    key_hash: Buffer
    request_digest: Buffer
    answer: unknown
    created_at: Generated<Date>
    expires_at: Date
  }
  identity_provider: {
    site_id: string
    user_pool_id: string
    provider: 'Google'
    issuer: string
    client_id: string
    sealed_client_secret: Buffer
    scopes: unknown
    enabled: boolean
    created_at: Generated<Date>
    updated_at: Generated<Date>
    callback_host: string | null
  }
  instance: {
    name: string
    value: unknown
    created_at: Generated<Date>
  }
  mail_address: {
    site_id: string
    local_part: string
    kind: 'mailbox' | 'alias'
  }
  mail_alias: {
    site_id: string
    local_part: string
    kind: Generated<'alias'>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  mail_alias_target: {
    site_id: string
    local_part: string
    mailbox_id: string
  }
  mail_content: {
    site_id: string
    raw_id: string
    text: string
    html: string | null
    truncated: Generated<boolean>
    attachments: Generated<unknown>
  }
  mail_delivery: {
    site_id: string
    mailbox_id: string
    delivery_hash: Buffer
    message_id: string
    expires_at: Date
  }
  mail_forwarding: {
    site_id: string
    mailbox_id: string
    enabled: boolean
    keep_copy: boolean
    updated_at: Date
  }
  mail_forwarding_target: {
    site_id: string
    mailbox_id: string
    target: string
    created_at: Date
    verified_at: Date | null
    token_hash: Buffer | null
    token_expires_at: Date | null
    verification_sent_at: Date | null
  }
  mail_message: {
    site_id: string
    message_id: string
    mailbox_id: string
    raw_id: string
    size_bytes: string
    recipient: string
    folder: Generated<'INBOX' | 'SENT' | 'ARCHIVE' | 'TRASH'>
    origin_folder: 'INBOX' | 'SENT' | 'ARCHIVE' | null
    deleted: Generated<boolean>
    trashed_at: Date | null
    seen: Generated<boolean>
    received_at: Date
    thread_id: string
    subject: Generated<string>
    from_address: Generated<string>
    recipients: Generated<unknown>
    header_id: string | null
    in_reply_to: string | null
    reference_ids: Generated<string[]>
    snippet: Generated<string>
    has_attachments: Generated<boolean>
  }
  mail_raw: {
    site_id: string
    raw_id: string
    size_bytes: string
    sha256: Buffer
    envelope_from: string
    client: unknown
    trace_header: string
    authentication: unknown
    parse_status: Generated<'pending' | 'parsed' | 'failed'>
    parse_attempts: Generated<number>
    bounce: unknown
    received_at: Date
    parse_version: Generated<number>
    reparsed_at: Date | null
    reparse_failed: Generated<boolean>
  }
  mail_recipient: {
    site_id: string
    message_id: string
    recipient: string
    mailbox_id: string
    raw_id: string
    envelope_from: string
    header_id: string
    status: Generated<'queued' | 'sent' | 'captured' | 'failed' | 'bounced' | 'suppressed'>
    attempts: Generated<number>
    reply: string | null
    updated_at: Date
    kind: Generated<'sent' | 'forwarded' | 'returned'>
    lets_go: Generated<boolean>
    noticed: 'delayed' | 'failed' | null
  }
  mail_removed_object: {
    site_id: string
    raw_id: string
    removed_at: Generated<Date>
  }
  mail_search: {
    site_id: string
    message_id: string
    mailbox_id: string
    received_at: Date
    words: string
  }
  mail_staged_attachment: {
    site_id: string
    attachment_ref: string
    mailbox_id: string
    filename: string
    content_type: string
    size_bytes: string
    expires_at: Date
  }
  mail_submission_credential: {
    site_id: string
    credential_id: string
    mailbox_id: string
    name: string
    created_by: string
    secret_hash: Buffer
    created_at: Date
    last_used_at: Date | null
  }
  mail_suppression: {
    site_id: string
    address: string
    reason: 'BOUNCE'
    detail: string
    created_at: Date
  }
  mail_thread_reference: {
    site_id: string
    mailbox_id: string
    reference_hash: Buffer
    thread_id: string
  }
  mail_usage: {
    site_id: string
    used_bytes: Generated<string>
    used_messages: Generated<string>
    parsing_since: Date | null
  }
  mailbox: {
    site_id: string
    mailbox_id: string
    local_part: string
    kind: Generated<'mailbox'>
    status: Generated<'ACTIVE' | 'DISABLED'>
    trash_auto_purge: Generated<boolean>
    trash_retention_days: Generated<number>
    used_bytes: Generated<string>
    used_messages: Generated<string>
    quota_bytes: string | null
    quota_messages: string | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
    disabled_at: Date | null
  }
  mailbox_owner: {
    site_id: string
    mailbox_id: string
    user_pool_id: string
    sub: string
    created_at: Generated<Date>
  }
  outbound_message: {
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
  password_key: {
    site_id: string
    key_id: string
    sealed: Buffer
  }
  pending_sign_up: {
    site_id: string
    user_pool_id: string
    registration_id: string
    sub: string
    email: string
    password_hash: string
    sealed_srp: Buffer | null
    code_hash: Buffer | null
    tries: Generated<number>
    expires_at: Date
    created_at: Generated<Date>
    network: Generated<string>
    name: string | null
    code_request_id: string | null
  }
  pool_client: {
    site_id: string
    client_id: string
    user_pool_id: string
    purpose: 'default' | 'link' | 'registered'
    created_at: Generated<Date>
    redirect_uris: Generated<unknown>
    logout_uris: Generated<unknown>
    cognito_api: Generated<boolean>
    access_token_format: Generated<'cognito' | 'rfc9068'>
    name: string | null
    privacy_uri: string | null
    logo: Buffer | null
    logo_type: 'image/png' | 'image/jpeg' | 'image/webp' | null
    is_third_party: Generated<boolean>
    authentication: Generated<'none' | 'client_secret' | 'private_key_jwt'>
    secret_hash: Buffer | null
    former_secret_hash: Buffer | null
    former_secret_ends_at: Date | null
    jwks: unknown
    updated_at: Generated<Date>
  }
  pool_user: {
    site_id: string
    user_pool_id: string
    sub: string
    email: string
    email_verified: Generated<boolean>
    external_email: string | null
    role: 'user' | 'admin' | 'super-admin' | null
    status: 'INVITED' | 'ACTIVE' | 'DISABLED' | 'DELETING'
    tokens_valid_after: Generated<Date>
    created_at: Generated<Date>
    updated_at: Generated<Date>
    origin: 'invite' | 'operator' | 'sign-up' | 'provider'
    active_address: Generated<'primary' | 'external'>
    settings: Generated<unknown>
    sign_ins_valid_after: Generated<Date>
    name: string | null
    language: string | null
  }
  provider_visit: {
    site_id: string
    state_hash: Buffer
    user_pool_id: string
    provider: string
    purpose: 'sign-in' | 'link'
    sealed_visit: Buffer
    sub: string | null
    created_at: Generated<Date>
    expires_at: Date
  }
  refresh_family: {
    site_id: string
    family_id: string
    user_pool_id: string
    client_id: string
    sub: string
    session_id: string | null
    scope: string
    auth_time: Date
    user_agent: string
    address: string
    created_at: Generated<Date>
    expires_at: Date
    revoked_at: Date | null
    proof_used_at: Date | null
  }
  refresh_response: {
    site_id: string
    token_hash: Buffer
    family_id: string
    sealed: string
    expires_at: Date
  }
  refresh_token: {
    site_id: string
    token_hash: Buffer
    family_id: string
    used_at: Date | null
    created_at: Generated<Date>
  }
  runtime_log: {
    site_id: string
    log_id: GeneratedAlways<string>
    at: Date
    level: 'debug' | 'info' | 'warn' | 'error'
    kind: 'console' | 'failure' | 'platform'
    operation: string | null
    request_id: string | null
    message: string
    fields: unknown
  }
  runtime_usage: {
    site_id: string
    hour: Date
    operation: string
    calls: string
    errors: string
    cache_hits: string
    cpu_us: string
    wall_us: string
  }
  schema_migration: {
    name: string
    sha256: string
    applied_at: Generated<Date>
  }
  security_event: {
    site_id: string
    event_id: string
    at: Date
    event: string
    pool: 'admin' | 'data' | null
    sub: string | null
    email: string | null
    actor: string | null
    client_id: string | null
    address: string | null
    user_agent: string | null
    request_id: string | null
    detail: Generated<unknown>
  }
  sign_in_session: {
    site_id: string
    session_id: string
    token_hash: Buffer
    user_pool_id: string
    sub: string
    auth_time: Date
    method: 'password' | 'google' | 'onboarding' | 'passkey'
    user_agent: string
    address: string
    created_at: Generated<Date>
    last_seen_at: Generated<Date>
    expires_at: Date
  }
  signing_key: {
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
  site: {
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
    admin_domain: string | null
    auth_domain: string | null
    former_auth_domains: Generated<string[]>
  }
  site_branding: {
    site_id: string
    color: string | null
    logo: Buffer | null
    logo_type: 'image/png' | 'image/jpeg' | 'image/webp' | null
    logo_version: string | null
    updated_at: Generated<Date>
  }
  site_host: {
    site_id: string
    host: string
  }
  site_import: {
    site_id: string
    domain: string
    started_at: Date
    alive_at: Date
  }
  site_key: {
    site_id: string
    wrapped_key: Buffer
    created_at: Generated<Date>
  }
  site_repository: {
    site_id: string
    version: string
  }
  site_repository_pack: {
    site_id: string
    pack: string
    object_id: string
    size_bytes: string
    created_at: Date
  }
  site_repository_ref: {
    site_id: string
    name: string
    oid: string
  }
  site_revision: {
    site_id: string
    revision: number
    document: unknown
    created_at: Generated<Date>
  }
  site_runtime: {
    site_id: string
    sync_status: 'queued' | 'running' | 'succeeded' | 'failed'
    requested: Generated<string>
    synced: Generated<string>
    current_revision: number | null
    error: string | null
    updated_at: Generated<Date>
  }
  static_manifest: {
    site_id: string
    deployment_id: string
    manifest: unknown
  }
  table_index: {
    site_id: string
    table_id: string
    index_id: number
    name: string
    partition_key: unknown
    sort_key: unknown
    status: 'building' | 'active' | 'removing'
  }
  table_index_entry: {
    site_id: string
    table_id: string
    index_id: number
    partition_hash: Buffer
    sort_key: Buffer
    item_hash: Buffer
    item_sort: Buffer
  }
  table_item: {
    site_id: string
    table_id: string
    partition_hash: Buffer
    sort_key: Buffer
    size_bytes: number
    expires_at: string | null
    body: string
    index_ids: number[] | null
    index_hashes: Buffer[] | null
    index_sorts: Buffer[] | null
  }
  table_layout: {
    site_id: string
    table_id: string
    generation: Generated<number>
    ttl_attribute: string | null
    last_index_id: Generated<number>
    built_hash: Buffer | null
    built_sort: Buffer | null
  }
  table_room: {
    site_id: string
    holder: string
    bytes: string
    items: string
    renewed_at: Date
  }
  table_transaction: {
    site_id: string
    token_hash: Buffer
    request_digest: Buffer
    expires_at: Date
  }
  table_usage: {
    site_id: string
    used_bytes: Generated<string>
    used_items: Generated<string>
    changed_at: Date | null
    epoch: Generated<number>
    counted_from: Date | null
    counted_to: Date | null
    counted_alone: Generated<boolean>
    counting_from: Date | null
    counting_at: Date | null
    counting_table: string | null
    counting_hash: Buffer | null
    counting_sort: Buffer | null
    counting_bytes: Generated<string>
    counting_items: Generated<string>
    since_bytes: Generated<string>
    since_items: Generated<string>
    recount_at: Date | null
  }
  used_passkey_challenge: {
    site_id: string
    challenge_hash: Buffer
    expires_at: Date
  }
  used_srp_challenge: {
    site_id: string
    challenge_id: Buffer
    expires_at: Date
  }
  user_code: {
    site_id: string
    user_pool_id: string
    sub: string
    purpose: 'reset' | 'address' | 'proof'
    code_hash: Buffer
    email: string
    tries: Generated<number>
    expires_at: Date
    created_at: Generated<Date>
    requester: Generated<string>
    other_tries: Generated<number>
    request_id: string | null
  }
  user_identity: {
    site_id: string
    user_pool_id: string
    provider: string
    issuer: string
    subject: string
    sub: string
    email: string | null
    linked_at: Generated<Date>
  }
  user_invite: {
    site_id: string
    token_hash: Buffer
    user_pool_id: string
    sub: string
    expires_at: Date
    used_at: Date | null
    created_at: Generated<Date>
  }
  user_passkey: {
    site_id: string
    user_pool_id: string
    credential_id: Buffer
    sub: string
    public_key: Buffer
    sign_count: string
    transports: unknown
    name: string
    created_at: Generated<Date>
    last_used_at: Date | null
  }
  user_password: {
    site_id: string
    user_pool_id: string
    sub: string
    hash: string
    sealed_srp: Buffer | null
    updated_at: Generated<Date>
  }
  user_pool: {
    site_id: string
    user_pool_id: string
    kind: 'admin' | 'data'
    created_at: Generated<Date>
    settings: Generated<unknown>
  }
  user_totp: {
    site_id: string
    user_pool_id: string
    sub: string
    sealed_secret: Buffer
    sealed_recovery_codes: Buffer
    recovery_codes_left: number
    last_step: number
    failures: Generated<number>
    failed_since: Date | null
    created_at: Generated<Date>
  }
}
