import type { Generated } from 'kysely'

/** The identity half of the schema. Each table has `site_id`, too. */
export interface IdentityTables {
  user_pool: {
    user_pool_id: string
    kind: 'admin' | 'data'
    settings: Generated<unknown>
    created_at: Generated<Date>
  }
  deploy_webhook: {
    sealed_secret: Buffer
    created_at: Date
  }
  deploy_webhook_delivery: {
    delivery: Buffer
    received_at: Date
  }
  deploy_token: {
    token_id: string
    name: string
    scopes: unknown
    created_by: string
    secret_hash: Buffer
    created_at: Date
    expires_at: Date | null
    last_used_at: Date | null
  }
  pool_client: {
    client_id: string
    user_pool_id: string
    purpose: 'default' | 'link' | 'registered'
    redirect_uris: Generated<unknown>
    logout_uris: Generated<unknown>
    cognito_api: Generated<boolean>
    access_token_format: Generated<'cognito' | 'rfc9068'>
    name: Generated<string | null>
    privacy_uri: Generated<string | null>
    logo: Generated<Buffer | null>
    logo_type: Generated<'image/png' | 'image/jpeg' | 'image/webp' | null>
    is_third_party: Generated<boolean>
    authentication: Generated<'none' | 'client_secret' | 'private_key_jwt'>
    secret_hash: Generated<Buffer | null>
    former_secret_hash: Generated<Buffer | null>
    former_secret_ends_at: Generated<Date | null>
    jwks: Generated<unknown>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  client_consent: {
    user_pool_id: string
    sub: string
    client_id: string
    scope: string
    granted_at: Date
  }
  client_assertion: {
    client_id: string
    jti_hash: Buffer
    expires_at: Date
  }
  signing_key: {
    user_pool_id: string
    kid: string
    alg: string
    public_jwk: unknown
    sealed_private: Buffer
    created_at: Generated<Date>
    retired_at: Date | null
    expires_at: Date | null
  }
  pool_user: {
    user_pool_id: string
    sub: string
    email: string
    email_verified: Generated<boolean>
    external_email: string | null
    name: string | null
    language: string | null
    role: 'user' | 'admin' | 'super-admin' | null
    status: 'INVITED' | 'ACTIVE' | 'DISABLED' | 'DELETING'
    origin: 'invite' | 'operator' | 'sign-up' | 'provider'
    active_address: Generated<'primary' | 'external'>
    settings: Generated<unknown>
    tokens_valid_after: Generated<Date>
    sign_ins_valid_after: Generated<Date>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  user_invite: {
    token_hash: Buffer
    user_pool_id: string
    sub: string
    expires_at: Date
    used_at: Date | null
    created_at: Generated<Date>
  }
  user_password: {
    user_pool_id: string
    sub: string
    hash: string
    sealed_srp: Buffer | null
    updated_at: Generated<Date>
  }
  user_totp: {
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
  user_passkey: {
    user_pool_id: string
    credential_id: Buffer
    sub: string
    public_key: Buffer
    /** Comes as text: it is a `bigint`. */
    sign_count: string
    transports: unknown
    name: string
    created_at: Generated<Date>
    last_used_at: Date | null
  }
  password_key: {
    key_id: string
    sealed: Buffer
  }
  pending_sign_up: {
    user_pool_id: string
    registration_id: string
    sub: string
    email: string
    password_hash: string
    sealed_srp: Buffer | null
    code_hash: Buffer | null
    code_request_id: string | null
    tries: Generated<number>
    network: Generated<string>
    name: string | null
    expires_at: Date
    created_at: Generated<Date>
  }
  account_deletion: {
    user_pool_id: string
    sub: string
    token_hash: Buffer
    expires_at: Date
    created_at: Generated<Date>
  }
  address_change: {
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
  user_code: {
    user_pool_id: string
    sub: string
    purpose: 'reset' | 'address' | 'proof'
    code_hash: Buffer
    email: string
    tries: Generated<number>
    other_tries: Generated<number>
    requester: Generated<string>
    request_id: Generated<string | null>
    expires_at: Date
    created_at: Generated<Date>
  }
  sign_in_session: {
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
  refresh_family: {
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
    proof_used_at: Generated<Date | null>
  }
  refresh_token: {
    token_hash: Buffer
    family_id: string
    used_at: Date | null
    created_at: Generated<Date>
  }
  refresh_response: {
    token_hash: Buffer
    family_id: string
    sealed: string
    expires_at: Date
  }
  authorization_code: {
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
  identity_provider: {
    user_pool_id: string
    provider: 'Google'
    issuer: string
    client_id: string
    sealed_client_secret: Buffer
    scopes: unknown
    enabled: boolean
    callback_host: string | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  user_identity: {
    user_pool_id: string
    provider: string
    issuer: string
    subject: string
    sub: string
    email: string | null
    linked_at: Generated<Date>
  }
  provider_visit: {
    state_hash: Buffer
    user_pool_id: string
    provider: string
    purpose: 'sign-in' | 'link'
    sealed_visit: Buffer
    sub: string | null
    created_at: Generated<Date>
    expires_at: Date
  }
  data_group: {
    group_name: string
    description: Generated<string>
    created_at: Generated<Date>
  }
  data_group_member: {
    group_name: string
    user_pool_id: string
    sub: string
    added_at: Generated<Date>
  }
  auth_email_branding: {
    message_type: 'adminVerificationEmail' | 'dataVerificationEmail'
    subject: string
    html_body: string
    updated_at: Generated<Date>
  }
  security_event: {
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
    detail: unknown
  }
  used_passkey_challenge: { challenge_hash: Buffer; expires_at: Date }
  used_srp_challenge: { challenge_id: Buffer; expires_at: Date }
}
