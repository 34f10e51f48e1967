import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

export interface StoredProvider {
  readonly issuer: string
  readonly clientId: string
  readonly scopes: unknown
  readonly enabled: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly sealedClientSecret: Buffer
}

/** Locked: what is left out of a change stays as it is at that moment. */
export function selectProviderForUpdate(
  tx: SiteTx,
  userPoolId: string,
  provider: 'Google',
): Promise<StoredProvider | undefined> {
  return providerRow(tx, userPoolId, provider).forUpdate().executeTakeFirst()
}

export function selectProvider(
  tx: SiteTx,
  userPoolId: string,
  provider: 'Google',
): Promise<StoredProvider | undefined> {
  return providerRow(tx, userPoolId, provider).executeTakeFirst()
}

const providerRow = (tx: SiteTx, userPoolId: string, provider: 'Google') =>
  tx.db
    .selectFrom('identity_provider')
    .select([
      'issuer',
      'client_id as clientId',
      'scopes',
      'enabled',
      'created_at as createdAt',
      'updated_at as updatedAt',
      'sealed_client_secret as sealedClientSecret',
    ])
    .where('site_id', '=', tx.siteId)
    .where('user_pool_id', '=', userPoolId)
    .where('provider', '=', provider)

export async function upsertProvider(
  tx: SiteTx,
  provider: {
    readonly userPoolId: string
    readonly provider: 'Google'
    readonly issuer: string
    readonly clientId: string
    readonly sealedClientSecret: Buffer
    readonly scopes: readonly string[]
    readonly enabled: boolean
  },
  now: Date,
): Promise<void> {
  const settings = {
    issuer: provider.issuer,
    client_id: provider.clientId,
    sealed_client_secret: provider.sealedClientSecret,
    scopes: JSON.stringify(provider.scopes),
    enabled: provider.enabled,
    updated_at: now,
  }
  await tx.db
    .insertInto('identity_provider')
    .values({
      site_id: tx.siteId,
      user_pool_id: provider.userPoolId,
      provider: provider.provider,
      ...settings,
      created_at: now,
    })
    .onConflict((on) => on.columns(['site_id', 'user_pool_id', 'provider']).doUpdateSet(settings))
    .execute()
}

export async function deleteProvider(
  tx: SiteTx,
  userPoolId: string,
  provider: 'Google',
): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('identity_provider')
    .where('site_id', '=', tx.siteId)
    .where('user_pool_id', '=', userPoolId)
    .where('provider', '=', provider)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** How many ended visits a new one takes away. */
const SWEPT = 20

export async function insertLoginState(
  tx: SiteTx,
  visit: {
    readonly stateHash: Buffer
    readonly userPoolId: string
    readonly purpose: 'sign-in' | 'link'
    readonly sealedVisit: Buffer
    readonly sub: string | null
    readonly createdAt: Date
    readonly expiresAt: Date
  },
): Promise<void> {
  await tx.db
    .insertInto('provider_visit')
    .values({
      site_id: tx.siteId,
      state_hash: visit.stateHash,
      user_pool_id: visit.userPoolId,
      provider: 'Google',
      purpose: visit.purpose,
      sealed_visit: visit.sealedVisit,
      sub: visit.sub,
      created_at: visit.createdAt,
      expires_at: visit.expiresAt,
    })
    .execute()
}

export async function deleteExpiredLoginStates(tx: SiteTx, now: Date): Promise<void> {
  await sql`delete from provider_visit where ctid in (
    select ctid from provider_visit
    where site_id = ${tx.siteId} and expires_at < ${now}
    limit ${SWEPT} for update skip locked)`.execute(tx.db)
}

/** Of two who come back at once, one gets the visit. */
export function takeLoginState(
  tx: SiteTx,
  userPoolId: string,
  stateHash: Buffer,
  now: Date,
): Promise<{ readonly sealedVisit: Buffer } | undefined> {
  return tx.db
    .deleteFrom('provider_visit')
    .where('site_id', '=', tx.siteId)
    .where('state_hash', '=', stateHash)
    .where('user_pool_id', '=', userPoolId)
    .where('expires_at', '>', now)
    .returning('sealed_visit as sealedVisit')
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
    .where('site_id', '=', tx.siteId)
    .where('user_pool_id', '=', userPoolId)
    .where('provider', '=', 'Google')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
}

export function selectIdentity(
  tx: SiteTx,
  userPoolId: string,
  sub: string,
): Promise<(ExternalIdentity & { readonly linkedAt: Date }) | undefined> {
  return tx.db
    .selectFrom('user_identity')
    .select(['issuer', 'subject', 'linked_at as linkedAt'])
    .where('site_id', '=', tx.siteId)
    .where('user_pool_id', '=', userPoolId)
    .where('provider', '=', 'Google')
    .where('sub', '=', sub)
    .executeTakeFirst()
}

/** False, and nothing happens, when either side is taken: the identity by an account, or the account by an identity. */
export async function insertIdentity(
  tx: SiteTx,
  userPoolId: string,
  identity: ExternalIdentity & { readonly sub: string; readonly email: string | null },
  now: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.db
    .insertInto('user_identity')
    .values({
      site_id: tx.siteId,
      user_pool_id: userPoolId,
      provider: 'Google',
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

/** What an account was at a provider that has since been replaced by another one under the same name. */
export async function deleteFormerIdentity(
  tx: SiteTx,
  userPoolId: string,
  sub: string,
  issuer: string,
): Promise<void> {
  await tx.db
    .deleteFrom('user_identity')
    .where('site_id', '=', tx.siteId)
    .where('user_pool_id', '=', userPoolId)
    .where('provider', '=', 'Google')
    .where('sub', '=', sub)
    .where('issuer', '<>', issuer)
    .execute()
}
