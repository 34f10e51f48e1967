import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { notFound } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import { LoadingCache } from '#base/loading-cache.ts'
import { type VerificationKey, isPublished } from '#identity/keys/model.ts'
import { verificationKeys } from '#identity/keys/verification-keys.ts'
import { type PoolKind } from '#identity/pool-kind.ts'
import type { Database } from '#platform/postgres/database.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import { consoleHost } from '#sites/console-host.ts'
import type { Site, SiteNames } from '#sites/site.ts'

import { type Client, type ClientRow, accountClient, clientFromRow, withConsole } from './client.ts'
import {
  type GoogleProvider,
  type Pool,
  type SitePools,
  issuerBaseUrl,
  poolBaseUrl,
} from './model.ts'
import {
  type PoolRow,
  type ProviderRow,
  selectClients,
  selectPools,
  selectProviders,
} from './queries.ts'
import { storedPoolSettings } from './settings.ts'

const MAX_SITES = 10_000
/** Notifications keep an entry true; this bounds the harm of one that got lost. */
const MAX_AGE_MS = 60_000
/** How often a token with an unknown `kid` may make us look again. */
const REFRESH_AFTER_MS = 250

/** Names and public keys of each site's pools, in memory. */
export class PoolDirectory {
  readonly #database: Database
  readonly #clock: Clock
  readonly #baseUrl: string
  readonly #consoleDomain: string | undefined
  readonly #sites = new LoadingCache<string, SitePools>({ entries: { max: MAX_SITES } })

  constructor(deps: {
    database: Database
    clock: Clock
    baseUrl: string
    consoleDomain: string | undefined
  }) {
    this.#database = deps.database
    this.#clock = deps.clock
    this.#baseUrl = deps.baseUrl
    this.#consoleDomain = deps.consoleDomain
  }

  /** What is in memory and still fresh. */
  cached(site: Site, nowMs = this.#clock.now().getTime()): SitePools | undefined {
    const pools = this.#sites.glance(site.siteId)
    if (!pools || !haveSameNames(pools.names, site)) return undefined
    return nowMs - pools.loadedAtMs < MAX_AGE_MS ? pools : undefined
  }

  async get(site: Site): Promise<SitePools> {
    return this.cached(site) ?? this.#load(site)
  }

  /** The pool with that id, or 404: a pool of another site does not exist here. */
  async pool(site: Site, userPoolId: string): Promise<Pool> {
    const { admin, data } = await this.get(site)
    const pool = [admin, data].find((each) => each.userPoolId === userPoolId)
    if (!pool) throw notFound('UserPool', userPoolId)
    return pool
  }

  /** The same with the issuer of the host, where that is another one. */
  async poolAt(site: NamedSite, userPoolId: string): Promise<Pool> {
    const pool = await this.pool(site, userPoolId)
    const other = (await this.get(site)).elsewhere.get(site.host)
    return other?.kind === pool.kind ? other : pool
  }

  /** For a token whose key is not known: the notification of a rotation, or of a first key, may still be on its way. */
  async reload(site: Site, kind: PoolKind): Promise<Pool> {
    const pools = this.cached(site)
    if (pools && hasKey(pools[kind]) && this.#ageMs(pools) < REFRESH_AFTER_MS) return pools[kind]
    const loaded = (await this.#load(site))[kind]
    // It may have joined a load that began before the first key was there.
    return hasKey(loaded) ? loaded : (await this.#load(site))[kind]
  }

  forget(siteId: string): void {
    this.#sites.invalidate(siteId)
  }

  forgetAll(): void {
    this.#sites.invalidateAll()
  }

  #load(site: Site): Promise<SitePools> {
    return this.#sites.refresh(site.siteId, () => this.#read(site))
  }

  #read(site: Site): Promise<SitePools> {
    const now = this.#clock.now()
    return this.#database.withSite(site.siteId, async (tx) => {
      const rows = {
        pools: await selectPools(tx),
        clients: await selectClients(tx),
        providers: await selectProviders(tx),
        keys: await verificationKeys(tx, now),
      }
      const names = { ...site, consoleHost: consoleHost(this.#consoleDomain, site) }
      const poolOf = (kind: PoolKind): Pool =>
        poolFrom(this.#baseUrl, names, kind, { ...rows, now })
      const [admin, data] = [poolOf('admin'), poolOf('data')]
      return {
        names: site,
        loadedAtMs: now.getTime(),
        admin,
        data,
        elsewhere: poolsElsewhere(this.#baseUrl, names, { admin, data }),
      }
    })
  }

  #ageMs(pools: SitePools): number {
    return this.#clock.now().getTime() - pools.loadedAtMs
  }
}

/** A site as it was requested. */
export type NamedSite = Site & {
  /** The one of its names. */
  readonly host: string
}

const haveSameNames = (one: SiteNames, other: SiteNames): boolean =>
  one.domain === other.domain &&
  one.adminDomain === other.adminDomain &&
  one.authDomain === other.authDomain &&
  one.formerAuthDomains.join(' ') === other.formerAuthDomains.join(' ')

const hasKey = ({ signingKid }: Pool): boolean => signingKid !== ''

const relyingPartyOf = ({ domain }: Site, hostname: string): string =>
  hostname.endsWith(`.${domain}`) ? domain : hostname

interface PoolRows {
  readonly pools: readonly PoolRow[]
  readonly clients: readonly ClientRow[]
  readonly providers: readonly ProviderRow[]
  readonly keys: ReadonlyMap<string, ReadonlyMap<string, VerificationKey>>
  readonly now: Date
}

/** A site with the name of its console. */
interface ConsoleSite extends Site {
  readonly consoleHost: string | undefined
}

function poolFrom(baseUrl: string, site: ConsoleSite, kind: PoolKind, rows: PoolRows): Pool {
  const row = rows.pools.find((each) => each.kind === kind)
  if (!row) throw new Error(`The site ${site.siteId} has no ${kind} pool`)
  const { userPoolId } = row
  const base = poolBaseUrl(baseUrl, site, kind)
  const issuerOf = (ofHost: string) => `${ofHost}/oidc/${userPoolId}`
  const issuer = issuerOf(issuerBaseUrl(baseUrl, site, kind))
  const others = otherHosts(site, kind).map((host) => issuerOf(siteBaseUrl(baseUrl, host)))
  const issuers = [issuer, ...others]
  const clients = rows.clients
    .filter((client) => client.userPoolId === userPoolId)
    .map((client) => clientFromRow(base, kind, client))
  const clientId = clients.find(({ purpose }) => purpose === 'default')?.clientId ?? ''
  const published = [...(rows.keys.get(userPoolId)?.values() ?? [])].filter((key) =>
    isPublished(key, rows.now.getTime()),
  )
  return {
    kind,
    userPoolId,
    clientId,
    issuer,
    issuers,
    apiOrigin: new URL(base).origin,
    passkeyOrigins: [new URL(issuer).origin],
    relyingPartyId: relyingPartyOf(site, new URL(issuer).hostname),
    settings: storedPoolSettings(kind, row.settings),
    clients: new Map(
      [...clients, accountClient(issuer)].map((client): [string, Client] => [
        client.clientId,
        client,
      ]),
    ),
    google: googleOf(rows.providers.find((provider) => provider.userPoolId === userPoolId)),
    keys: new Map(published.map((key) => [key.kid, key])),
    signingKid: published.find((key) => key.signs)?.kid ?? '',
    version: [...issuers, clientId, ...published.map((key) => key.kid)].join(' '),
  }
}

/** Where a pool has an issuer beside its first one. */
function otherHosts(
  { adminDomain, formerAuthDomains, consoleHost: host }: ConsoleSite,
  kind: PoolKind,
): readonly string[] {
  if (kind === 'data') return formerAuthDomains
  return adminDomain === null && host !== undefined ? [host] : []
}

function poolsElsewhere(
  baseUrl: string,
  site: ConsoleSite,
  { admin, data }: Pick<SitePools, 'admin' | 'data'>,
): SitePools['elsewhere'] {
  const pools = new Map<string, Pool>()
  for (const host of site.formerAuthDomains) {
    pools.set(host, { ...data, issuer: `${siteBaseUrl(baseUrl, host)}/oidc/${data.userPoolId}` })
  }
  const { consoleHost: host } = site
  if (host !== undefined) pools.set(host, consolePool(admin, siteBaseUrl(baseUrl, host)))
  return pools
}

/** The admin pool at the console, which is its client there. Beside the first issuer, the pages have passkeys of their own. */
function consolePool(admin: Pool, base: string): Pool {
  const issuer = `${base}/oidc/${admin.userPoolId}`
  const { origin, hostname } = new URL(base)
  const clients = [...admin.clients.values()].map((client) => withConsole(client, origin))
  return {
    ...admin,
    ...(issuer !== admin.issuer && {
      issuer,
      passkeyOrigins: [origin],
      relyingPartyId: hostname,
    }),
    clients: new Map(
      [...clients, accountClient(issuer)].map((client) => [client.clientId, client]),
    ),
  }
}

function googleOf(row: ProviderRow | undefined): GoogleProvider | undefined {
  if (!row) return undefined
  const { issuer, clientId, enabled } = row
  return { issuer, clientId, enabled, scopes: Value.Parse(Type.Array(Type.String()), row.scopes) }
}
