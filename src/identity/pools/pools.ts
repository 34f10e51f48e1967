import { POOL_KINDS } from '#identity/pool-kind.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type {
  Onboarding,
  SiteLifecycle,
  NewSiteInput,
  SiteCreation,
} from '#sites/site-lifecycle.ts'
import type { Site } from '#sites/site.ts'

import type { NamedSite, PoolDirectory } from './directory.ts'
import {
  type BasicVisitorDiscovery,
  type BootstrapConfig,
  type Pool,
  type VisitorDiscovery,
  basicDiscoveryOf,
  bootstrapOf,
  discoveryOf,
} from './model.ts'
import { type NewPool, insertClients, insertPools, selectPools } from './queries.ts'
import { storedPoolSettings } from './settings.ts'

/** The first members of a new admin pool. */
interface SuperAdmins {
  invite(
    tx: SiteTx,
    site: Site,
    userPoolId: string,
    emails: readonly string[],
  ): Promise<readonly Onboarding[]>
}

/** The two pools of each site: the admin pool, and the data pool of its visitors. */
export class Pools implements SiteLifecycle {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'ids' | 'clock'> & {
      readonly directory: PoolDirectory
      readonly superAdmins: SuperAdmins
      readonly baseUrl: string
    },
  ) {
    this.#deps = deps
  }

  /** Both pools with their clients, and an invited account for each super-admin. Their keys are made when they are first needed. */
  async created(tx: SiteTx, site: Site, input: NewSiteInput): Promise<SiteCreation> {
    const pools = POOL_KINDS.map((kind): NewPool => ({
      kind,
      userPoolId: this.#deps.ids.userPoolId(site.region),
      clientId: this.#deps.ids.clientId(),
    }))
    const now = this.#deps.clock.now()
    const clients = pools.map(({ userPoolId, clientId }) => ({
      userPoolId,
      clientId,
      purpose: 'default' as const,
    }))
    const links = pools
      .filter(({ kind }) => kind === 'data')
      .map(({ userPoolId }) => ({
        userPoolId,
        clientId: this.#deps.ids.clientId(),
        purpose: 'link' as const,
      }))
    await insertPools(tx, pools, now)
    await insertClients(tx, [...clients, ...links], now)
    const adminPoolId = pools.find((pool) => pool.kind === 'admin')?.userPoolId ?? ''
    return {
      onboarding: await this.#deps.superAdmins.invite(tx, site, adminPoolId, input.superAdmins),
    }
  }

  /** Completes the pools that came with a site from elsewhere. Undefined where they are not the two that a site has. */
  async arrived(tx: SiteTx, site: Site, input: NewSiteInput): Promise<SiteCreation | undefined> {
    const pools = await selectPools(tx)
    const adminPool = pools.find(({ kind }) => kind === 'admin')
    if (adminPool === undefined || pools.length !== POOL_KINDS.length) return undefined
    const { userPoolId } = adminPool
    return {
      onboarding: await this.#deps.superAdmins.invite(tx, site, userPoolId, input.superAdmins),
    }
  }

  /** What `GET /admin/public/config` answers. */
  async bootstrap(site: Site): Promise<BootstrapConfig> {
    const { admin } = await this.#deps.directory.get(site)
    return bootstrapOf(this.#deps.baseUrl, site, admin)
  }

  /** What `GET /data/auth/config` answers. */
  async discovery(site: Site): Promise<VisitorDiscovery> {
    const { data } = await this.#deps.directory.get(site)
    return discoveryOf(site, data)
  }

  /** What `GET /data/public/auth/config` answers. */
  async basicDiscovery(site: Site): Promise<BasicVisitorDiscovery> {
    const { data } = await this.#deps.directory.get(site)
    return basicDiscoveryOf(site, data)
  }

  /** Those of these names that no scope of the site's visitors has. */
  async missingScopes(tx: SiteTx, names: readonly string[]): Promise<string[]> {
    const data = (await selectPools(tx)).find(({ kind }) => kind === 'data')
    const { scopes } = storedPoolSettings('data', data?.settings ?? {})
    return names.filter((name) => !Object.hasOwn(scopes, name))
  }

  /** The pool with that id, or 404. */
  byId(site: Site, userPoolId: string): Promise<Pool> {
    return this.#deps.directory.pool(site, userPoolId)
  }

  /** The same with the issuer of the host that the site was requested by. */
  at(site: NamedSite, userPoolId: string): Promise<Pool> {
    return this.#deps.directory.poolAt(site, userPoolId)
  }
}
