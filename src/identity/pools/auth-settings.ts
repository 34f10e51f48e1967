import { Value } from '@sinclair/typebox/value'

import { OPERATOR } from '#base/actor.ts'
import type { RequestOrigin } from '#base/request-origin.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import type { AccountChanges } from '#identity/revocation/account-changes.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import {
  type AuthChange,
  type AuthView,
  type ClientChange,
  type ClientView,
  type PoolChange,
  type PoolView,
  checkScopes,
  checkUris,
} from './auth-change.ts'
import {
  type Client,
  type ClientPurpose,
  type StoredClientPurpose,
  clientFromRow,
} from './client.ts'
import type { PoolDirectory } from './directory.ts'
import { type Pool, poolBaseUrl } from './model.ts'
import {
  type PoolRow,
  lockPools,
  selectClients,
  updateClient,
  updatePoolSettings,
} from './queries.ts'
import { PoolSettingsInput, differences, mergedInput, storedPoolSettings } from './settings.ts'

/** What the operator decides about a site's pools and their clients. A change counts at once, on every replica. */
export class AuthSettings {
  readonly #deps

  constructor(deps: {
    readonly database: Database
    readonly changes: AccountChanges
    readonly directory: PoolDirectory
    readonly events: SecurityEvents
    readonly baseUrl: string
  }) {
    this.#deps = deps
  }

  async get(site: Site): Promise<AuthView> {
    const { admin, data } = await this.#deps.directory.get(site)
    return { admin: poolView(admin), data: poolView(data) }
  }

  /** 400 for a URI that no client may have. */
  async change(site: Site, change: AuthChange, origin: RequestOrigin): Promise<AuthView> {
    const baseOf = (kind: PoolKind): string => poolBaseUrl(this.#deps.baseUrl, site, kind)
    checkUris(change, baseOf)
    checkScopes(change)
    await this.#deps.database.withSite(site.siteId, async (tx) => {
      const pools = await lockPools(tx)
      const rows = await selectClients(tx)
      for (const pool of pools) {
        const clients = rows
          .filter(({ userPoolId }) => userPoolId === pool.userPoolId)
          .map((row) => clientFromRow(baseOf(pool.kind), pool.kind, row))
        const detail = await changePool(tx, { pool, clients }, change[pool.kind] ?? {})
        if (Object.keys(detail).length === 0) continue
        const event = { event: 'settings.changed', pool: pool.kind, actor: OPERATOR } as const
        await this.#deps.events.record(tx, { ...event, origin, detail })
      }
      await this.#deps.changes.siteChanged(tx)
    })
    return this.get(site)
  }
}

/** What became different, by name. */
type ChangedSettings = Record<string, string | number | boolean>

async function changePool(
  tx: SiteTx,
  {
    pool,
    clients,
  }: {
    readonly pool: PoolRow
    readonly clients: readonly Client<StoredClientPurpose>[]
  },
  { clients: changes = {}, ...input }: PoolChange,
): Promise<ChangedSettings> {
  const { kind, userPoolId, settings } = pool
  const after = mergedInput(Value.Parse(PoolSettingsInput, settings), input)
  await updatePoolSettings(tx, userPoolId, after)
  const changed: ChangedSettings = differences(
    storedPoolSettings(kind, settings),
    storedPoolSettings(kind, after),
  )
  // Two of them at most.
  for (const client of clients) {
    const change = client.purpose === 'registered' ? undefined : changes[client.purpose]
    if (change) Object.assign(changed, await changeClient(tx, client, change))
  }
  return changed
}

async function changeClient(
  tx: SiteTx,
  client: Client,
  change: ClientChange,
): Promise<ChangedSettings> {
  const after: Client = {
    ...client,
    redirectUris: changedUris(client.redirectUris, change.redirectUris),
    logoutUris: changedUris(client.logoutUris, change.logoutUris),
    cognitoApi: change.cognitoApi ?? client.cognitoApi,
    accessTokenFormat: change.accessTokenFormat ?? client.accessTokenFormat,
  }
  await updateClient(tx, after.clientId, {
    // The site's own URI is computed.
    redirectUris: after.redirectUris.slice(1),
    logoutUris: after.logoutUris.slice(1),
    cognitoApi: after.cognitoApi,
    accessTokenFormat: after.accessTokenFormat,
  })
  const was = flat(client)
  return Object.fromEntries(Object.entries(flat(after)).filter(([name, now]) => was[name] !== now))
}

/** The site's own URI keeps its place, the first. */
function changedUris(
  current: readonly string[],
  given: readonly string[] | undefined,
): readonly string[] {
  if (given === undefined) return current
  const own = current.slice(0, 1)
  return [...own, ...given.filter((uri) => !own.includes(uri))]
}

const flat = ({ purpose, redirectUris, logoutUris, ...client }: Client): ChangedSettings => ({
  [`clients.${purpose}.redirectUris`]: redirectUris.join(' '),
  [`clients.${purpose}.logoutUris`]: logoutUris.join(' '),
  [`clients.${purpose}.cognitoApi`]: client.cognitoApi,
  [`clients.${purpose}.accessTokenFormat`]: client.accessTokenFormat,
})

function poolView({ kind, userPoolId, issuer, settings, clients }: Pool): PoolView {
  const views = new Map<ClientPurpose, ClientView>()
  for (const client of clients.values()) views.set(client.purpose, clientView(client))
  const [own, link] = [views.get('default'), views.get('link')]
  if (!own) throw new Error(`The ${kind} pool "${userPoolId}" has no client`)
  return { userPoolId, issuer, ...settings, clients: { default: own, ...(link && { link }) } }
}

const clientView = (client: Client): ClientView => ({
  clientId: client.clientId,
  redirectUris: [...client.redirectUris],
  logoutUris: [...client.logoutUris],
  cognitoApi: client.cognitoApi,
  accessTokenFormat: client.accessTokenFormat,
})
