import { sql } from 'kysely'

import type { Picture, PictureType } from '#base/picture.ts'
import type { AccessTokenFormat, ClientAuthMethod } from '#identity/pools/client.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { PublicKeys } from './model.ts'

export interface StoredRegistration {
  readonly clientId: string
  readonly userPoolId: string
  readonly name: string
  readonly authentication: ClientAuthMethod
  readonly redirectUris: unknown
  readonly logoutUris: unknown
  readonly isThirdParty: boolean
  readonly accessTokenFormat: AccessTokenFormat
  readonly privacyUri: string | null
  readonly hasLogo: boolean
  readonly jwks: unknown
  readonly formerSecretEndsAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** What may change; `logo` stays where it is left out. */
export interface RegistrationFields {
  readonly name: string
  readonly redirectUris: readonly string[]
  readonly logoutUris: readonly string[]
  readonly isThirdParty: boolean
  readonly accessTokenFormat: AccessTokenFormat
  readonly privacyUri: string | null
  readonly logo?: Picture | null
  readonly jwks: PublicKeys | null
}

export interface NewRegistration extends RegistrationFields {
  readonly clientId: string
  readonly userPoolId: string
  readonly authentication: ClientAuthMethod
  readonly secretHash: Buffer | null
  readonly createdAt: Date
}

const columnsOf = ({ logo, jwks, ...fields }: RegistrationFields) => ({
  name: fields.name,
  redirect_uris: JSON.stringify(fields.redirectUris),
  logout_uris: JSON.stringify(fields.logoutUris),
  is_third_party: fields.isThirdParty,
  access_token_format: fields.accessTokenFormat,
  privacy_uri: fields.privacyUri,
  jwks: jwks === null ? null : JSON.stringify(jwks),
  ...(logo !== undefined && { logo: logo?.bytes ?? null, logo_type: logo?.type ?? null }),
})

export async function insertRegistration(tx: SiteTx, client: NewRegistration): Promise<void> {
  await tx.db
    .insertInto('pool_client')
    .values({
      ...columnsOf(client),
      site_id: tx.siteId,
      client_id: client.clientId,
      user_pool_id: client.userPoolId,
      purpose: 'registered',
      authentication: client.authentication,
      secret_hash: client.secretHash,
      created_at: client.createdAt,
      updated_at: client.createdAt,
    })
    .execute()
}

const registrations = ({ db, siteId }: SiteTx) =>
  db
    .selectFrom('pool_client')
    .select([
      'client_id as clientId',
      'user_pool_id as userPoolId',
      sql<string>`name`.as('name'),
      'authentication',
      'redirect_uris as redirectUris',
      'logout_uris as logoutUris',
      'is_third_party as isThirdParty',
      'access_token_format as accessTokenFormat',
      'privacy_uri as privacyUri',
      sql<boolean>`logo is not null`.as('hasLogo'),
      'jwks',
      'former_secret_ends_at as formerSecretEndsAt',
      'created_at as createdAt',
      'updated_at as updatedAt',
    ])
    .where('site_id', '=', siteId)
    .where('purpose', '=', 'registered')

/** The oldest first. */
export const selectRegistrations = (tx: SiteTx): Promise<StoredRegistration[]> =>
  registrations(tx).orderBy('created_at').orderBy('client_id').execute()

const oneRegistration = (tx: SiteTx, clientId: string) =>
  registrations(tx).where('client_id', '=', clientId)

export const selectRegistration = (
  tx: SiteTx,
  clientId: string,
): Promise<StoredRegistration | undefined> => oneRegistration(tx, clientId).executeTakeFirst()

/** Holds it against other changes. */
export const lockRegistration = (
  tx: SiteTx,
  clientId: string,
): Promise<StoredRegistration | undefined> =>
  oneRegistration(tx, clientId).forNoKeyUpdate().executeTakeFirst()

export async function countRegistrations(tx: SiteTx): Promise<number> {
  const { count } = await tx.db
    .selectFrom('pool_client')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('site_id', '=', tx.siteId)
    .where('purpose', '=', 'registered')
    .executeTakeFirstOrThrow()
  return Number(count)
}

const registration = (tx: SiteTx, clientId: string) =>
  tx.db
    .updateTable('pool_client')
    .where('site_id', '=', tx.siteId)
    .where('client_id', '=', clientId)
    .where('purpose', '=', 'registered')

export async function updateRegistration(
  tx: SiteTx,
  clientId: string,
  fields: RegistrationFields & { readonly updatedAt: Date },
): Promise<void> {
  await registration(tx, clientId)
    .set({ ...columnsOf(fields), updated_at: fields.updatedAt })
    .execute()
}

/** The present secret becomes the former one. */
export async function updateSecret(
  tx: SiteTx,
  clientId: string,
  secret: { readonly hash: Buffer; readonly formerEndsAt: Date | null; readonly now: Date },
): Promise<void> {
  const { hash, formerEndsAt, now } = secret
  await registration(tx, clientId)
    .set((row) => ({
      former_secret_hash: formerEndsAt === null ? null : row.ref('secret_hash'),
      former_secret_ends_at: formerEndsAt,
      secret_hash: hash,
      updated_at: now,
    }))
    .execute()
}

/** With what its users have from it: codes, and sign-ins with their tokens. */
export async function deleteRegistration(tx: SiteTx, clientId: string): Promise<void> {
  for (const table of ['authorization_code', 'refresh_family', 'pool_client'] as const) {
    await tx.db
      .deleteFrom(table)
      .where('site_id', '=', tx.siteId)
      .where('client_id', '=', clientId)
      .execute()
  }
}

export async function selectLogo(tx: SiteTx, clientId: string): Promise<Picture | undefined> {
  const row = await tx.db
    .selectFrom('pool_client')
    .select([sql<Buffer>`logo`.as('bytes'), sql<PictureType>`logo_type`.as('type')])
    .where('site_id', '=', tx.siteId)
    .where('client_id', '=', clientId)
    .where('logo', 'is not', null)
    .executeTakeFirst()
  return row
}
