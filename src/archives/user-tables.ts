import { passwordKeySealContext } from '#identity/passwords/hash-keys.ts'
import { srpSealContext } from '#identity/passwords/srp-verifiers.ts'
import { secondFactorSealContext } from '#identity/second-factors/sealed-texts.ts'

import { type ArchivedTable, CHANGED, CREATED, archived } from './archived-table.ts'

const USER = { user_pool_id: 'text', sub: 'text' } as const

const SECOND_FACTOR = {
  context: ({ user_pool_id, sub }: Readonly<Record<string, unknown>>) =>
    secondFactorSealContext(String(user_pool_id), String(sub)),
}

/** The people of a site, those who run it and those who visit it, with what they sign in with. */
export const USER_TABLES: readonly ArchivedTable[] = [
  archived(
    'users',
    'pool_user',
    {
      ...USER,
      email: 'text',
      email_verified: 'boolean',
      external_email: 'text',
      name: 'text',
      language: 'text',
      role: 'text',
      status: 'text',
      origin: 'text',
      active_address: 'text',
      settings: 'jsonb',
      tokens_valid_after: 'timestamptz',
      sign_ins_valid_after: 'timestamptz',
      ...CHANGED,
    },
    { orderBy: ['user_pool_id', 'sub'] },
  ),
  archived(
    'users',
    'password_key',
    { key_id: 'text', sealed: 'bytea' },
    {
      orderBy: ['key_id'],
      secrets: { sealed: { context: ({ key_id }) => passwordKeySealContext(String(key_id)) } },
    },
  ),
  archived(
    'users',
    'user_password',
    { ...USER, hash: 'text', sealed_srp: 'bytea', updated_at: 'timestamptz' },
    {
      orderBy: ['user_pool_id', 'sub'],
      secrets: {
        hash: {
          context: ({ user_pool_id, sub }) =>
            `password-hash:${String(user_pool_id)}:${String(sub)}`,
          isPasswordHash: true,
        },
        sealed_srp: {
          context: ({ user_pool_id, sub }) => srpSealContext(String(user_pool_id), String(sub)),
        },
      },
    },
  ),
  archived(
    'users',
    'user_totp',
    {
      ...USER,
      sealed_secret: 'bytea',
      sealed_recovery_codes: 'bytea',
      recovery_codes_left: 'integer',
      last_step: 'integer',
      ...CREATED,
    },
    {
      orderBy: ['user_pool_id', 'sub'],
      secrets: { sealed_secret: SECOND_FACTOR, sealed_recovery_codes: SECOND_FACTOR },
    },
  ),
  archived(
    'users',
    'user_passkey',
    {
      ...USER,
      credential_id: 'bytea',
      public_key: 'bytea',
      sign_count: 'bigint',
      transports: 'jsonb',
      name: 'text',
      ...CREATED,
      last_used_at: 'timestamptz',
    },
    { orderBy: ['user_pool_id', 'credential_id'] },
  ),
  // The hash of 256 random bits, as that of an invite.
  archived(
    'users',
    'account_deletion',
    { ...USER, token_hash: 'bytea', expires_at: 'timestamptz', ...CREATED },
    { orderBy: ['user_pool_id', 'sub'] },
  ),
  archived(
    'users',
    'client_consent',
    { ...USER, client_id: 'text', scope: 'text', granted_at: 'timestamptz' },
    { orderBy: ['user_pool_id', 'sub', 'client_id'] },
  ),
  archived(
    'users',
    'user_identity',
    {
      ...USER,
      provider: 'text',
      issuer: 'text',
      subject: 'text',
      email: 'text',
      linked_at: 'timestamptz',
    },
    { orderBy: ['user_pool_id', 'provider', 'issuer', 'subject'] },
  ),
  // The hash of 256 random bits tells nobody what they are.
  archived(
    'users',
    'user_invite',
    {
      token_hash: 'bytea',
      ...USER,
      expires_at: 'timestamptz',
      used_at: 'timestamptz',
      ...CREATED,
    },
    { orderBy: ['token_hash'] },
  ),
  archived(
    'users',
    'data_group_member',
    { group_name: 'text', ...USER, added_at: 'timestamptz' },
    { orderBy: ['group_name', 'sub'] },
  ),
  archived(
    'users',
    'security_event',
    {
      event_id: 'text',
      at: 'timestamptz',
      event: 'text',
      pool: 'text',
      sub: 'text',
      email: 'text',
      actor: 'text',
      client_id: 'text',
      address: 'text',
      user_agent: 'text',
      request_id: 'text',
      detail: 'jsonb',
    },
    { orderBy: ['at', 'event_id'] },
  ),
]
