import { type UserKey, inPool, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { GOOGLE } from './model.ts'

const PROVIDER_COLUMNS = [
  'issuer',
  'client_id as clientId',
  'scopes',
  'enabled',
  'callback_host as callbackHost',
  'created_at as createdAt',
  'updated_at as updatedAt',
  'sealed_client_secret as sealedClientSecret',
] as const

export interface StoredProvider {
  readonly issuer: string
  readonly clientId: string
  readonly scopes: unknown
  readonly enabled: boolean
  /** Null is the site's domain. */
  readonly callbackHost: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly sealedClientSecret: Buffer
}

/** Locks the row: a change that leaves a setting out must keep its latest value. */
export const selectProviderForUpdate = (
  tx: SiteTx,
  userPoolId: string,
): Promise<StoredProvider | undefined> => providerRow(tx, userPoolId).forUpdate().executeTakeFirst()

export const selectProvider = (
  tx: SiteTx,
  userPoolId: string,
): Promise<StoredProvider | undefined> => providerRow(tx, userPoolId).executeTakeFirst()

const providerRow = (tx: SiteTx, userPoolId: string) =>
  tx.db
    .selectFrom('identity_provider')
    .select(PROVIDER_COLUMNS)
    .where(inPool(tx, userPoolId))
    .where('provider', '=', GOOGLE)

export function upsertProvider(
  tx: SiteTx,
  provider: Omit<StoredProvider, 'createdAt' | 'updatedAt'> & { readonly userPoolId: string },
  now: Date,
): Promise<StoredProvider> {
  const settings = {
    issuer: provider.issuer,
    client_id: provider.clientId,
    sealed_client_secret: provider.sealedClientSecret,
    scopes: JSON.stringify(provider.scopes),
    enabled: provider.enabled,
    callback_host: provider.callbackHost,
    updated_at: now,
  }
  return tx.db
    .insertInto('identity_provider')
    .values({
      site_id: tx.siteId,
      user_pool_id: provider.userPoolId,
      provider: GOOGLE,
      ...settings,
      created_at: now,
    })
    .onConflict((on) => on.columns(['site_id', 'user_pool_id', 'provider']).doUpdateSet(settings))
    .returning(PROVIDER_COLUMNS)
    .executeTakeFirstOrThrow()
}

export async function updateCallbackHost(
  tx: SiteTx,
  userPoolId: string,
  callbackHost: string,
): Promise<void> {
  await tx.db
    .updateTable('identity_provider')
    .set({ callback_host: callbackHost })
    .where(inPool(tx, userPoolId))
    .where('provider', '=', GOOGLE)
    .execute()
}

export async function deleteProvider(tx: SiteTx, userPoolId: string): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('identity_provider')
    .where(inPool(tx, userPoolId))
    .where('provider', '=', GOOGLE)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

export async function insertLoginState(
  tx: SiteTx,
  login: {
    readonly stateHash: Buffer
    readonly userPoolId: string
    readonly purpose: 'sign-in' | 'link'
    readonly sealedState: Buffer
    readonly sub: string | null
    readonly createdAt: Date
    readonly expiresAt: Date
  },
): Promise<void> {
  await tx.db
    .insertInto('provider_visit')
    .values({
      site_id: tx.siteId,
      state_hash: login.stateHash,
      user_pool_id: login.userPoolId,
      provider: GOOGLE,
      purpose: login.purpose,
      sealed_visit: login.sealedState,
      sub: login.sub,
      created_at: login.createdAt,
      expires_at: login.expiresAt,
    })
    .execute()
}

/** When a browser comes back twice at once, one of the two gets the row. */
export function takeLoginState(
  tx: SiteTx,
  userPoolId: string,
  stateHash: Buffer,
  now: Date,
): Promise<{ readonly sealedState: Buffer } | undefined> {
  return tx.db
    .deleteFrom('provider_visit')
    .where(inPool(tx, userPoolId))
    .where('state_hash', '=', stateHash)
    .where('expires_at', '>', now)
    .returning('sealed_visit as sealedState')
    .executeTakeFirst()
}

export interface ExternalIdentity {
  readonly issuer: string
  readonly subject: string
}

export function selectIdentityOwner(
  tx: SiteTx,
  userPoolId: string,
  { issuer, subject }: ExternalIdentity,
): Promise<{ readonly sub: string } | undefined> {
  return tx.db
    .selectFrom('user_identity')
    .select('sub')
    .where(inPool(tx, userPoolId))
    .where('provider', '=', GOOGLE)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
}

export function selectIdentity(
  tx: SiteTx,
  user: UserKey,
): Promise<(ExternalIdentity & { readonly linkedAt: Date }) | undefined> {
  return tx.db
    .selectFrom('user_identity')
    .select(['issuer', 'subject', 'linked_at as linkedAt'])
    .where(ofUser(tx, user))
    .where('provider', '=', GOOGLE)
    .executeTakeFirst()
}

/** False, without any effect, when the identity has an account or the account has an identity. */
export async function insertIdentity(
  tx: SiteTx,
  identity: ExternalIdentity & UserKey & { readonly email: string | null },
  now: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.db
    .insertInto('user_identity')
    .values({
      site_id: tx.siteId,
      user_pool_id: identity.userPoolId,
      provider: GOOGLE,
      issuer: identity.issuer,
      subject: identity.subject,
      sub: identity.sub,
      email: identity.email,
      linked_at: now,
    })
    .onConflict((on) => on.doNothing())
    .executeTakeFirstOrThrow()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Deletes the account's identity at an issuer that the operator has since replaced. */
export async function deleteFormerIdentity(
  tx: SiteTx,
  user: UserKey,
  issuer: string,
): Promise<void> {
  await tx.db
    .deleteFrom('user_identity')
    .where(ofUser(tx, user))
    .where('provider', '=', GOOGLE)
    .where('issuer', '<>', issuer)
    .execute()
}
