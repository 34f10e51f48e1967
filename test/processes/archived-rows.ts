import { WEBHOOK_SEAL_CONTEXT } from '#identity/deploy-webhooks/deploy-webhooks.ts'
import { providerSealContext } from '#identity/federation/model.ts'
import { passwordKeySealContext } from '#identity/passwords/hash-keys.ts'
import { srpSealContext } from '#identity/passwords/srp-verifiers.ts'
import { secondFactorSealContext } from '#identity/second-factors/sealed-texts.ts'
import { dkimSealContext } from '#mail/dkim/model.ts'

/** A column whose bytes the key of the site seals. */
export interface SealedText {
  readonly context: string
  readonly text: string
}

export type ArchivedRow = Readonly<Record<string, unknown>>

const AT = '2026-11-25T03:28:57.123456+00:00'
const NEVER = '2099-01-01T00:00:00+00:00'
const HASH = `\\x${'ab'.repeat(32)}`
const PIXEL =
  '\\x89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000a49444154789c6300010000050001'

/** The site of the installation that the rows are added to, and what of it they refer to. */
export const ROWS_OF = {
  siteId: 'site_gxdf1syf6v0h',
  domain: 'shop.test',
  admin: {
    user_pool_id: 'eu-central-1_XazEbL6ZC',
    sub: '66643bc1-e83c-4aeb-ae5e-e2ee05967682',
  },
  visitor: {
    user_pool_id: 'eu-central-1_hDCS2c2Qu',
    sub: '87d5a2cd-07d5-4304-98f2-774bf9e16f9c',
  },
} as const
const { admin, visitor } = ROWS_OF
const MAILBOX = { mailbox_id: 'mbx_brk1tfykm0xhid9r' }
const RAW = { raw_id: 'raw_pdr43nm7dwq9y324' }

const sealed = (context: string, text: string): SealedText => ({ context, text })
const ofVisitor = (context: (poolId: string, sub: string) => string) =>
  context(visitor.user_pool_id, visitor.sub)

/** At least one row of every table that an archive has and the installation lacks, in an order in which each finds what it refers to. */
export const ARCHIVED_ROWS: readonly (readonly [table: string, row: ArchivedRow])[] = [
  [
    'pool_client',
    {
      client_id: 'helpdesk',
      user_pool_id: visitor.user_pool_id,
      purpose: 'registered',
      redirect_uris: ['https://helpdesk.test/back'],
      logout_uris: [],
      cognito_api: false,
      access_token_format: 'rfc9068',
      name: 'Helpdesk',
      privacy_uri: 'https://helpdesk.test/privacy',
      logo: PIXEL,
      logo_type: 'image/png',
      is_third_party: true,
      authentication: 'client_secret',
      secret_hash: HASH,
      former_secret_hash: HASH,
      former_secret_ends_at: NEVER,
      created_at: AT,
      updated_at: AT,
    },
  ],
  [
    'pool_client',
    {
      client_id: 'signer',
      user_pool_id: visitor.user_pool_id,
      purpose: 'registered',
      redirect_uris: ['https://signer.test/back'],
      logout_uris: ['https://signer.test/out'],
      cognito_api: false,
      name: 'Signer',
      authentication: 'private_key_jwt',
      jwks: { keys: [] },
      created_at: AT,
      updated_at: AT,
    },
  ],
  [
    'site_branding',
    { color: '#0a7f3c', logo: PIXEL, logo_type: 'image/png', logo_version: 'v1', updated_at: AT },
  ],
  [
    'auth_email_branding',
    {
      message_type: 'dataVerificationEmail',
      subject: 'Größe „Ä“',
      html_body: '<p>{{code}}</p>',
      updated_at: AT,
    },
  ],
  ['contact_recipient', { email: 'office@else.test', created_at: AT, updated_at: AT }],
  [
    'deployment',
    {
      deployment_id: 'dep_1',
      status: 'removed',
      source: { type: 'upload' },
      artifact_directory: 'dist',
      files: [],
      file_count: 3,
      size_bytes: 9007199254740993n.toString(),
      deployed_by: { kind: 'operator' },
      git: { commit: 'a'.repeat(40) },
      created_at: AT,
      activated_at: AT,
    },
  ],
  [
    'deployment_activation',
    {
      activation_number: 1,
      deployment_id: 'dep_1',
      replaced_id: 'dep_0',
      reason: 'rollback',
      activated_by: { kind: 'operator' },
      activated_at: AT,
      files_added: 1,
      files_changed: 2,
      files_removed: 0,
      calls: 7,
      failures: 1,
      rollback_status: 'done',
      rollback_error: 'none',
    },
  ],
  ['static_manifest', { deployment_id: 'dep_1', manifest: { files: {} } }],
  ['site_repository', { version: '3' }],
  ['site_repository_ref', { name: 'refs/heads/main', oid: 'b'.repeat(40) }],
  [
    'site_repository_pack',
    { pack: `pack-${'c'.repeat(40)}`, object_id: 'obj_1', size_bytes: '12', created_at: AT },
  ],
  [
    'iac_definition',
    {
      profile_name: 'kept',
      definition: { groups: [{ groupName: 'x' }], none: null },
      created_at: AT,
      updated_at: AT,
    },
  ],
  ['password_key', { key_id: 'earlier', sealed: sealed(passwordKeySealContext('earlier'), 'k') }],
  [
    'user_password',
    {
      ...visitor,
      hash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
      sealed_srp: sealed(ofVisitor(srpSealContext), 'a verifier'),
      updated_at: AT,
    },
  ],
  ['user_password', { ...admin, hash: '$argon2id$of-the-admin', updated_at: AT }],
  [
    'user_totp',
    {
      ...visitor,
      sealed_secret: sealed(ofVisitor(secondFactorSealContext), 'a secret'),
      sealed_recovery_codes: sealed(ofVisitor(secondFactorSealContext), '["one"]'),
      recovery_codes_left: 1,
      last_step: 59_000_000,
      created_at: AT,
    },
  ],
  [
    'user_passkey',
    {
      ...visitor,
      credential_id: '\\x0102',
      public_key: '\\x03',
      sign_count: '4294967297',
      transports: ['usb', 'nfc'],
      name: 'key',
      created_at: AT,
      last_used_at: AT,
    },
  ],
  ['account_deletion', { ...visitor, token_hash: HASH, expires_at: NEVER, created_at: AT }],
  ['client_consent', { ...visitor, client_id: 'helpdesk', scope: 'openid email', granted_at: AT }],
  [
    'user_identity',
    {
      ...visitor,
      provider: 'Google',
      issuer: 'https://accounts.google.com',
      subject: '1',
      email: 'vic@example.test',
      linked_at: AT,
    },
  ],
  [
    'identity_provider',
    {
      user_pool_id: visitor.user_pool_id,
      provider: 'Google',
      issuer: 'https://accounts.google.com',
      client_id: 'google',
      sealed_client_secret: sealed(providerSealContext(visitor.user_pool_id), 'of Google'),
      scopes: ['openid', 'email'],
      enabled: true,
      callback_host: 'shop.test',
      created_at: AT,
      updated_at: AT,
    },
  ],
  [
    'deploy_webhook',
    { sealed_secret: sealed(WEBHOOK_SEAL_CONTEXT, 'of the repository'), created_at: AT },
  ],
  [
    'deploy_token',
    {
      token_id: 'tok_1',
      name: 'of CI',
      scopes: ['deploy', 'logs'],
      created_by: 'operator',
      secret_hash: HASH,
      created_at: AT,
      last_used_at: AT,
    },
  ],
  [
    'dkim_key',
    { number: 1, public_key: 'MIIB', created_at: AT, activated_at: AT, superseded_at: AT },
  ],
  [
    'dkim_key',
    {
      number: 2,
      public_key: 'MIIC',
      sealed_private: sealed(dkimSealContext(2), 'PKCS #8'),
      created_at: AT,
      activated_at: AT,
    },
  ],
  ['mail_address', { local_part: 'hello', kind: 'alias' }],
  ['mail_alias', { local_part: 'hello', kind: 'alias', created_at: AT, updated_at: AT }],
  ['mail_alias_target', { local_part: 'hello', ...MAILBOX }],
  ['mail_forwarding', { ...MAILBOX, enabled: true, keep_copy: true, updated_at: AT }],
  [
    'mail_forwarding_target',
    {
      ...MAILBOX,
      target: 'ann@else.test',
      created_at: AT,
      verified_at: AT,
      token_hash: HASH,
      token_expires_at: NEVER,
      verification_sent_at: AT,
    },
  ],
  [
    'mail_submission_credential',
    {
      credential_id: 'cred_1',
      ...MAILBOX,
      name: 'phone',
      created_by: admin.sub,
      secret_hash: HASH,
      created_at: AT,
      last_used_at: AT,
    },
  ],
  [
    'mail_suppression',
    { address: 'gone@else.test', reason: 'BOUNCE', detail: '5.1.1', created_at: AT },
  ],
  ...(['sent', 'queued'] as const).map(
    (status) =>
      [
        'mail_recipient',
        {
          message_id: 'msg_sent',
          recipient: `${status}@else.test`,
          ...MAILBOX,
          ...RAW,
          envelope_from: 'info@shop.test',
          header_id: '1@shop.test',
          kind: 'sent',
          lets_go: false,
          noticed: 'delayed',
          status,
          attempts: 2,
          reply: '250 OK',
          updated_at: AT,
        },
      ] as const,
  ),
]
