import type { Generated } from 'kysely'

/** The identity half of the schema. */
export interface IdentityTables {
  user_pool: UserPoolTable
  pool_client: PoolClientTable
  signing_key: SigningKeyTable
  pool_user: PoolUserTable
  user_invite: UserInviteTable
  user_password: UserPasswordTable
  pending_sign_up: PendingSignUpTable
  user_code: UserCodeTable
  sign_in_session: SignInSessionTable
  refresh_family: RefreshFamilyTable
  refresh_token: RefreshTokenTable
  authorization_code: AuthorizationCodeTable
  identity_provider: IdentityProviderTable
  user_identity: UserIdentityTable
  provider_visit: ProviderVisitTable
  data_group: DataGroupTable
  data_group_member: DataGroupMemberTable
  auth_email_branding: AuthEmailBrandingTable
  security_event: SecurityEventTable
  used_srp_challenge: UsedSrpChallengeTable
}

interface UserPoolTable {
  site_id: string
  user_pool_id: string
  kind: 'admin' | 'data'
  settings: Generated<unknown>
  created_at: Generated<Date>
}

interface PoolClientTable {
  site_id: string
  client_id: string
  user_pool_id: string
  purpose: 'default' | 'link'
  redirect_uris: Generated<unknown>
  logout_uris: Generated<unknown>
  cognito_api: Generated<boolean>
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
  origin: 'invite' | 'operator' | 'sign-up' | 'provider'
  active_address: Generated<'primary' | 'external'>
  settings: Generated<unknown>
  tokens_valid_after: Generated<Date>
  sign_ins_valid_after: Generated<Date>
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

interface UserPasswordTable {
  site_id: string
  user_pool_id: string
  sub: string
  hash: string
  sealed_srp: Buffer | null
  updated_at: Generated<Date>
}

interface PendingSignUpTable {
  site_id: string
  user_pool_id: string
  registration_id: string
  sub: string
  email: string
  password_hash: string
  sealed_srp: Buffer | null
  code_hash: Buffer | null
  tries: Generated<number>
  network: Generated<string>
  expires_at: Date
  created_at: Generated<Date>
}

interface UserCodeTable {
  site_id: string
  user_pool_id: string
  sub: string
  purpose: 'reset' | 'address'
  code_hash: Buffer
  email: string
  tries: Generated<number>
  expires_at: Date
  created_at: Generated<Date>
}

interface SignInSessionTable {
  site_id: string
  session_id: string
  token_hash: Buffer
  user_pool_id: string
  sub: string
  auth_time: Date
  method: 'password' | 'google' | 'onboarding'
  user_agent: string
  address: string
  created_at: Generated<Date>
  last_seen_at: Generated<Date>
  expires_at: Date
}

interface RefreshFamilyTable {
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
}

interface RefreshTokenTable {
  site_id: string
  token_hash: Buffer
  family_id: string
  used_at: Date | null
  created_at: Generated<Date>
}

interface AuthorizationCodeTable {
  site_id: string
  code_hash: Buffer
  user_pool_id: string
  client_id: string
  sub: string
  session_id: string | null
  redirect_uri: string
  code_challenge: string
  nonce: string | null
  scope: string
  auth_time: Date
  created_at: Generated<Date>
  expires_at: Date
  used_at: Date | null
  family_id: string | null
}

interface IdentityProviderTable {
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
}

interface UserIdentityTable {
  site_id: string
  user_pool_id: string
  provider: string
  issuer: string
  subject: string
  sub: string
  email: string | null
  linked_at: Generated<Date>
}

interface ProviderVisitTable {
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

interface DataGroupTable {
  site_id: string
  group_name: string
  description: Generated<string>
  created_at: Generated<Date>
}

interface DataGroupMemberTable {
  site_id: string
  group_name: string
  user_pool_id: string
  sub: string
  added_at: Generated<Date>
}

interface AuthEmailBrandingTable {
  site_id: string
  message_type: 'adminVerificationEmail' | 'dataVerificationEmail'
  subject: string
  html_body: string
  updated_at: Generated<Date>
}

interface SecurityEventTable {
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
  detail: unknown
}

interface UsedSrpChallengeTable {
  site_id: string
  challenge_id: Buffer
  expires_at: Date
}
