import { WEBHOOK_SEAL_CONTEXT } from '#identity/deploy-webhooks/deploy-webhooks.ts'
import { providerSealContext } from '#identity/federation/model.ts'
import { signingKeySealContext } from '#identity/keys/model.ts'
import { passwordKeySealContext } from '#identity/passwords/hash-keys.ts'
import { srpSealContext } from '#identity/passwords/srp-verifiers.ts'
import { secondFactorSealContext } from '#identity/second-factors/sealed-texts.ts'
import { dkimSealContext } from '#mail/dkim/model.ts'
import { envVarSealContext } from '#runtime/env-vars/model.ts'

import { type SiteTables, archivedTables } from './archived-table.ts'

type Row = Readonly<Record<string, unknown>>

const RECIPIENT_LEFT = 'left to the installation that the site came from'

const NOT_SIGNED_IN = 'sessions end'
const SIGN_IN = 'a sign-in in progress'
const REPEATED = 'requests that are repeated here'
const SEEN_HERE = 'what this installation saw'
const COUNTED = 'counted while items and objects are written'
const REMADE = 'made of the definition of the table'
const COUNTS_HERE = 'counts here'

const ENV_VAR_SECRETS = { sealed: { context: ({ name }: Row) => envVarSealContext(String(name)) } }
const SECOND_FACTOR = {
  context: ({ user_pool_id, sub }: Row) =>
    secondFactorSealContext(String(user_pool_id), String(sub)),
}

/** What an archive has of every table of a site. Columns that are not named travel. */
export const SITE_TABLES: SiteTables = {
  // How the site is set up.
  site: 'the header of the archive says how the site is set up',
  site_host: 'the names that the header says',
  site_key: 'each installation wraps a key of its own',
  site_import: 'an import in progress',
  user_pool: { part: 'definition' },
  pool_client: {
    part: 'definition',
    open: ['logo', 'secret_hash', 'former_secret_hash'],
    // Archives of earlier versions have none.
    arriving: {
      updated_at:
        "coalesce((line->>'updated_at')::timestamptz, (line->>'created_at')::timestamptz)",
    },
  },
  site_branding: { part: 'definition', open: ['logo'] },
  auth_email_branding: { part: 'definition' },
  contact_recipient: { part: 'definition' },
  // What is being uploaded goes on where it was begun.
  deployment: {
    part: 'definition',
    orderBy: ['created_at', 'deployment_id'],
    where: `status <> 'uploading'`,
  },
  deployment_activation: { part: 'definition' },
  static_manifest: {
    part: 'definition',
    where: `deployment_id in (select deployment_id from deployment d
      where d.site_id = static_manifest.site_id and d.status <> 'uploading')`,
  },
  site_repository: { part: 'definition' },
  site_repository_ref: { part: 'definition' },
  site_repository_pack: { part: 'definition' },
  data_group: { part: 'definition' },
  data_resource: { part: 'definition' },
  data_operation: { part: 'definition' },
  data_job: { part: 'definition', stays: { last_tick: 'not written any more' } },
  // What has not ended is carried out where it was begun. Their numbers are given again, in this order.
  data_job_run: {
    part: 'definition',
    orderBy: ['run_number'],
    where: `status not in ('queued', 'running')`,
  },
  data_job_due: 'computed from the jobs',
  iac_definition: { part: 'definition' },
  iac_job: 'what was done here, in an order of this installation',
  iac_change: 'what was done here',
  env_var: [
    { part: 'definition', secrets: ENV_VAR_SECRETS, where: 'not secret' },
    { part: 'keys', secrets: ENV_VAR_SECRETS, where: 'secret' },
  ],
  site_runtime: 'compiled again',
  site_revision: 'compiled again',
  runtime_log: SEEN_HERE,
  runtime_usage: SEEN_HERE,
  idempotent_answer: REPEATED,

  // Users, and what they sign in with.
  pool_user: { part: 'users' },
  password_key: {
    part: 'users',
    secrets: { sealed: { context: ({ key_id }) => passwordKeySealContext(String(key_id)) } },
  },
  user_password: {
    part: 'users',
    secrets: {
      hash: {
        context: ({ user_pool_id, sub }) => `password-hash:${String(user_pool_id)}:${String(sub)}`,
        isPasswordHash: true,
      },
      sealed_srp: {
        context: ({ user_pool_id, sub }) => srpSealContext(String(user_pool_id), String(sub)),
      },
    },
  },
  user_totp: {
    part: 'users',
    secrets: { sealed_secret: SECOND_FACTOR, sealed_recovery_codes: SECOND_FACTOR },
    stays: { failures: COUNTS_HERE, failed_since: COUNTS_HERE },
  },
  user_passkey: { part: 'users', open: ['credential_id', 'public_key'] },
  account_deletion: { part: 'users', open: ['token_hash'] },
  client_consent: { part: 'users' },
  user_identity: { part: 'users' },
  user_invite: { part: 'users', open: ['token_hash'] },
  data_group_member: { part: 'users' },
  security_event: { part: 'users', orderBy: ['at', 'event_id'] },
  sign_in_session: NOT_SIGNED_IN,
  refresh_family: NOT_SIGNED_IN,
  refresh_token: NOT_SIGNED_IN,
  refresh_response: NOT_SIGNED_IN,
  authorization_code: NOT_SIGNED_IN,
  client_assertion: 'proofs that are good for minutes',
  provider_visit: SIGN_IN,
  used_srp_challenge: SIGN_IN,
  used_passkey_challenge: SIGN_IN,
  pending_sign_up: 'a sign-up in progress',
  address_change: 'a new address in progress, with links that are valid here only',
  user_code: 'a code in progress, hashed with a key of this installation',

  // What proves something to others: values of secret variables, keys that sign, secrets that others know.
  signing_key: {
    part: 'keys',
    orderBy: ['user_pool_id', 'created_at', 'kid'],
    secrets: {
      sealed_private: {
        context: ({ user_pool_id, kid }) =>
          signingKeySealContext(String(user_pool_id), String(kid)),
      },
    },
    where: '(expires_at is null or expires_at > now())',
  },
  identity_provider: {
    part: 'keys',
    secrets: {
      sealed_client_secret: {
        context: ({ user_pool_id }) => providerSealContext(String(user_pool_id)),
      },
    },
  },
  deploy_webhook: {
    part: 'keys',
    secrets: { sealed_secret: { context: () => WEBHOOK_SEAL_CONTEXT } },
  },
  deploy_webhook_delivery: 'deliveries that are repeated here',
  deploy_token: {
    part: 'keys',
    open: ['secret_hash'],
    where: '(expires_at is null or expires_at > now())',
  },
  dkim_key: {
    part: 'keys',
    secrets: { sealed_private: { context: ({ number }) => dkimSealContext(Number(number)) } },
  },

  // Mail: where it is taken, what was taken, and what became of what was sent.
  mail_address: { part: 'mail' },
  mailbox: { part: 'mail' },
  mailbox_owner: { part: 'mail', needs: 'users' },
  mail_alias: { part: 'mail' },
  mail_alias_target: { part: 'mail' },
  mail_forwarding: { part: 'mail' },
  mail_forwarding_target: { part: 'mail', open: ['token_hash'] },
  mail_submission_credential: { part: 'mail', open: ['secret_hash'] },
  mail_suppression: { part: 'mail' },
  mail_usage: {
    part: 'mail',
    stays: { parsing_since: 'what parses it where it was; what comes is queued there' },
  },
  mail_raw: { part: 'mail', open: ['sha256'] },
  mail_content: { part: 'mail' },
  mail_message: { part: 'mail' },
  mail_search: {
    part: 'mail',
    // The id of the site is among the words.
    leaving: { words: 'ts_delete(mail_search.words, mail_search.site_id)' },
    arriving: { words: `array_to_tsvector(array[$1]) || (line ->> 'words')::tsvector` },
  },
  mail_thread_reference: { part: 'mail', open: ['reference_hash'] },
  mail_recipient: {
    part: 'mail',
    // It goes out from where it waits, and nowhere else.
    leaving: {
      status: `case when status = 'queued' then 'failed' else status end`,
      reply: `case when status = 'queued' then '${RECIPIENT_LEFT}' else reply end`,
    },
  },
  outbound_message: 'mail on its way from here',
  mail_delivery: 'deliveries that are repeated here',
  mail_removed_object: 'objects that are being removed',
  mail_staged_attachment: 'uploads in progress',

  // Items and objects.
  table_layout: REMADE,
  table_index: REMADE,
  table_item: 'exported as plain JSON',
  table_index_entry: 'made of the items',
  table_transaction: REPEATED,
  table_usage: COUNTED,
  table_room: 'of processes of this installation',
  bucket_object: COUNTED,
  bucket_usage: COUNTED,
  bucket_reservation: 'uploads in progress',
}

export const ARCHIVED_TABLES = archivedTables(SITE_TABLES)
