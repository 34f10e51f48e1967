import { WEBHOOK_SEAL_CONTEXT } from '#identity/deploy-webhooks/service.ts'
import { providerSealContext } from '#identity/federation/model.ts'
import { signingKeySealContext } from '#identity/keys/model.ts'
import { dkimSealContext } from '#mail/dkim/model.ts'
import { envVarSealContext } from '#runtime/env-vars/model.ts'

import { type ArchivedTable, CHANGED, CREATED, archived } from './archived-table.ts'

type Secrets = NonNullable<ArchivedTable['secrets']>

export const ENV_VAR_COLUMNS = {
  name: 'text',
  secret: 'boolean',
  storage_backend: 'text',
  sealed: 'bytea',
  ...CHANGED,
} as const
export const ENV_VAR_SECRETS = {
  sealed: { context: ({ name }) => envVarSealContext(String(name)) },
} satisfies Secrets

/** What proves something to others: values of secret variables, keys that sign, secrets that others know. */
export const KEY_TABLES: readonly ArchivedTable[] = [
  archived('keys', 'env_var', ENV_VAR_COLUMNS, {
    orderBy: ['name'],
    secrets: ENV_VAR_SECRETS,
    where: 'secret',
  }),
  archived(
    'keys',
    'signing_key',
    {
      user_pool_id: 'text',
      kid: 'text',
      alg: 'text',
      public_jwk: 'jsonb',
      sealed_private: 'bytea',
      ...CREATED,
      retired_at: 'timestamptz',
      expires_at: 'timestamptz',
    },
    {
      orderBy: ['user_pool_id', 'created_at', 'kid'],
      secrets: {
        sealed_private: {
          context: ({ user_pool_id, kid }) =>
            signingKeySealContext(String(user_pool_id), String(kid)),
        },
      },
      where: '(expires_at is null or expires_at > now())',
    },
  ),
  archived(
    'keys',
    'identity_provider',
    {
      user_pool_id: 'text',
      provider: 'text',
      issuer: 'text',
      client_id: 'text',
      sealed_client_secret: 'bytea',
      scopes: 'jsonb',
      enabled: 'boolean',
      callback_host: 'text',
      ...CHANGED,
    },
    {
      orderBy: ['user_pool_id', 'provider'],
      secrets: {
        sealed_client_secret: {
          context: ({ user_pool_id }) => providerSealContext(String(user_pool_id)),
        },
      },
    },
  ),
  archived(
    'keys',
    'deploy_webhook',
    { sealed_secret: 'bytea', ...CREATED },
    { orderBy: ['site_id'], secrets: { sealed_secret: { context: () => WEBHOOK_SEAL_CONTEXT } } },
  ),
  // The hash of 256 random bits tells nobody what they are.
  archived(
    'keys',
    'deploy_token',
    {
      token_id: 'text',
      name: 'text',
      scopes: 'jsonb',
      created_by: 'text',
      secret_hash: 'bytea',
      ...CREATED,
      expires_at: 'timestamptz',
      last_used_at: 'timestamptz',
    },
    { orderBy: ['token_id'], where: '(expires_at is null or expires_at > now())' },
  ),
  archived(
    'keys',
    'dkim_key',
    {
      number: 'integer',
      public_key: 'text',
      sealed_private: 'bytea',
      ...CREATED,
      activated_at: 'timestamptz',
      superseded_at: 'timestamptz',
    },
    {
      orderBy: ['number'],
      secrets: { sealed_private: { context: ({ number }) => dkimSealContext(Number(number)) } },
    },
  ),
]
