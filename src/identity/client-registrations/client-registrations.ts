import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Actor } from '#base/actor.ts'
import { AppError, type FieldFault, invalid, notFound } from '#base/app-error.ts'
import { type Picture, readPicture } from '#base/picture.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import { POOL_KINDS } from '#identity/pool-kind.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { Pool, SitePools } from '#identity/pools/model.ts'
import { uriFault } from '#identity/pools/registered-uri.ts'
import type { AccountChanges } from '#identity/revocation/account-changes.ts'
import type { SecurityEventName } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { lockSiteRow } from '#platform/postgres/lock-site-row.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  type ClientRegistration,
  type ClientRegistrationChange,
  FORMER_SECRET_HOURS,
  MAX_CLIENTS,
  type NewlyRegisteredClient,
  type RegisteredClient,
  type SecretRotation,
} from './model.ts'
import { checkedKeys } from './public-keys.ts'
import {
  type RegistrationFields,
  type StoredRegistration,
  countRegistrations,
  deleteRegistration,
  insertRegistration,
  lockRegistration,
  selectLogo,
  selectRegistration,
  selectRegistrations,
  updateRegistration,
  updateSecret,
} from './queries.ts'

const HOUR_MS = 3_600_000

const Texts = Type.Array(Type.String())

/** Applications beside a site's own that sign people in. A change counts at once, on every replica. */
export class ClientRegistrations {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock' | 'ids'> & {
      readonly directory: PoolDirectory
      readonly changes: AccountChanges
      readonly events: SecurityEvents
      readonly baseUrl: string
    },
  ) {
    this.#deps = deps
  }

  /** The oldest first. */
  async list(site: Site): Promise<RegisteredClient[]> {
    const pools = await this.#deps.directory.get(site)
    const rows = await this.#deps.database.withSite(site.siteId, selectRegistrations)
    return rows.map((row) => recordOf(pools, row))
  }

  /** 409 `TooManyClients` beyond fifty of a site; 400 for URIs, keys and pictures that no client may have. */
  async register(
    site: Site,
    by: Actor,
    { pool = 'data', authentication = 'client_secret', ...request }: ClientRegistration,
  ): Promise<NewlyRegisteredClient> {
    const { clock, ids } = this.#deps
    const pools = await this.#deps.directory.get(site)
    if ((authentication === 'private_key_jwt') !== (request.jwks !== undefined)) {
      throw invalid('jwks', 'belongs to private_key_jwt, and to that alone')
    }
    const fields = this.#fieldsOf(pools[pool], request, NOTHING)
    const clientSecret = authentication === 'client_secret' ? ids.secret() : null
    const client = {
      ...fields,
      clientId: ids.clientId(),
      userPoolId: pools[pool].userPoolId,
      authentication,
      secretHash: clientSecret === null ? null : hashSecret(clientSecret),
      createdAt: clock.now(),
    }
    await this.#change(site, async (tx) => {
      if ((await countRegistrations(tx)) >= MAX_CLIENTS) throw tooMany()
      await insertRegistration(tx, client)
      await this.#record(tx, { event: 'client.registered', by, pools, client })
    })
    return { ...(await this.get(site, client.clientId)), clientSecret }
  }

  /** 404 `ClientNotFound`. */
  async get(site: Site, clientId: string): Promise<RegisteredClient> {
    const pools = await this.#deps.directory.get(site)
    const row = await this.#deps.database.withSite(site.siteId, (tx) =>
      selectRegistration(tx, clientId),
    )
    if (!row) throw notFound('Client', clientId)
    return recordOf(pools, row)
  }

  async change(
    site: Site,
    by: Actor,
    clientId: string,
    change: ClientRegistrationChange,
  ): Promise<RegisteredClient> {
    const pools = await this.#deps.directory.get(site)
    await this.#change(site, async (tx) => {
      const row = await lockedRegistration(tx, clientId)
      if (change.jwks !== undefined && row.authentication !== 'private_key_jwt') {
        throw invalid('jwks', 'belongs to private_key_jwt, and to that alone')
      }
      const pool = row.userPoolId === pools.admin.userPoolId ? pools.admin : pools.data
      const fields = this.#fieldsOf(pool, change, storedFields(row))
      await updateRegistration(tx, clientId, { ...fields, updatedAt: this.#deps.clock.now() })
      const changed = Object.keys(change).sort().join(' ')
      const client = { ...row, name: fields.name }
      await this.#record(tx, { event: 'client.changed', by, pools, client, detail: { changed } })
    })
    return this.get(site, clientId)
  }

  /** A new secret. The former one stays good for a day, or as long as is said; one before that ends. */
  async rotateSecret(
    site: Site,
    by: Actor,
    clientId: string,
    { keepFormerHours = FORMER_SECRET_HOURS }: SecretRotation,
  ): Promise<NewlyRegisteredClient> {
    const { clock, ids } = this.#deps
    const pools = await this.#deps.directory.get(site)
    const clientSecret = ids.secret()
    await this.#change(site, async (tx) => {
      const row = await lockedRegistration(tx, clientId)
      if (row.authentication !== 'client_secret') throw withoutSecret(row)
      const now = clock.now()
      const formerEndsAt =
        keepFormerHours === 0 ? null : new Date(now.getTime() + keepFormerHours * HOUR_MS)
      await updateSecret(tx, clientId, { hash: hashSecret(clientSecret), formerEndsAt, now })
      const event = 'client.secret-rotated'
      await this.#record(tx, { event, by, pools, client: row, detail: { keepFormerHours } })
    })
    return { ...(await this.get(site, clientId)), clientSecret }
  }

  /** Its secrets, sign-ins and tokens are good for nothing from then on. */
  async remove(site: Site, by: Actor, clientId: string): Promise<void> {
    const pools = await this.#deps.directory.get(site)
    await this.#change(site, async (tx) => {
      const row = await lockedRegistration(tx, clientId)
      await deleteRegistration(tx, clientId)
      await this.#record(tx, { event: 'client.removed', by, pools, client: row })
    })
  }

  /** 404 `ClientNotFound` where there is none. */
  async logo({ siteId }: Pick<Site, 'siteId'>, clientId: string): Promise<Picture> {
    const logo = await this.#deps.database.withSite(siteId, (tx) => selectLogo(tx, clientId))
    if (!logo) throw notFound('Client', clientId)
    return logo
  }

  /** One change of a site's clients at a time. */
  #change(site: Site, work: (tx: SiteTx) => Promise<void>): Promise<void> {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      if (!(await lockSiteRow(tx))) throw notFound('Site', site.siteId)
      await work(tx)
      await this.#deps.changes.siteChanged(tx)
    })
  }

  #fieldsOf(
    { apiOrigin }: Pick<Pool, 'apiOrigin'>,
    change: ClientRegistrationChange,
    before: RegistrationFields,
  ): RegistrationFields {
    const { logo, jwks, ...rest } = change
    const fields = { ...before, ...rest }
    requireUris(fields, apiOrigin)
    return {
      ...fields,
      ...(logo !== undefined && { logo: logo === null ? null : readPicture('logo', logo) }),
      ...(jwks !== undefined && { jwks: checkedKeys(jwks) }),
    }
  }

  #record(tx: SiteTx, change: RecordedChange): Promise<void> {
    const { event, by, pools, client, detail } = change
    const pool = POOL_KINDS.find((kind) => pools[kind].userPoolId === client.userPoolId)
    return this.#deps.events.record(tx, {
      event,
      pool,
      by,
      clientId: client.clientId,
      detail: { name: client.name, ...detail },
    })
  }
}

interface RecordedChange {
  readonly event: SecurityEventName
  readonly by: Actor
  readonly pools: SitePools
  readonly client: Pick<StoredRegistration, 'clientId' | 'userPoolId' | 'name'>
  readonly detail?: Readonly<Record<string, string | number>>
}

async function lockedRegistration(tx: SiteTx, clientId: string): Promise<StoredRegistration> {
  const row = await lockRegistration(tx, clientId)
  if (!row) throw notFound('Client', clientId)
  return row
}

const NOTHING: RegistrationFields = {
  name: '',
  redirectUris: [],
  logoutUris: [],
  isThirdParty: false,
  accessTokenFormat: 'cognito',
  privacyUri: null,
  jwks: null,
}

const storedFields = (row: StoredRegistration): RegistrationFields => ({
  name: row.name,
  redirectUris: registeredUris(row.redirectUris),
  logoutUris: registeredUris(row.logoutUris),
  isThirdParty: row.isThirdParty,
  accessTokenFormat: row.accessTokenFormat,
  privacyUri: row.privacyUri,
  jwks: row.jwks === null ? null : (row.jwks as RegistrationFields['jwks']),
})

function requireUris(fields: RegistrationFields, ownOrigin: string): void {
  const faults = (['redirectUris', 'logoutUris'] as const).flatMap((list) =>
    fields[list].flatMap((uri, at): FieldFault[] => {
      const message = uriFault(uri, ownOrigin)
      return message === undefined ? [] : [{ field: `${list}[${at}]`, message }]
    }),
  )
  const [first] = faults
  if (!first) return
  throw new AppError('ValidationError', `${first.field}: ${first.message}`, { details: faults })
}

const tooMany = (): AppError =>
  new AppError(
    'TooManyClients',
    `A site has at most ${MAX_CLIENTS} registered clients: remove one first`,
  )

const withoutSecret = ({ name, authentication }: StoredRegistration): AppError =>
  new AppError(
    'ClientWithoutSecret',
    `"${name}" has no secret: it authenticates with ${authentication === 'none' ? 'PKCE alone' : authentication}`,
  )

const registeredUris = (stored: unknown): string[] => Value.Parse(Texts, stored)

function recordOf(pools: SitePools, row: StoredRegistration): RegisteredClient {
  const { userPoolId, createdAt, updatedAt, formerSecretEndsAt, ...rest } = row
  const pool = POOL_KINDS.find((kind) => pools[kind].userPoolId === userPoolId) ?? 'data'
  return {
    ...rest,
    pool,
    issuer: pools[pool].issuer,
    redirectUris: registeredUris(row.redirectUris),
    logoutUris: registeredUris(row.logoutUris),
    formerSecretEndsAt: formerSecretEndsAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}
