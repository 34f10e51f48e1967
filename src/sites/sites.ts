import { AppError, invalid, notFound } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import type { Audit } from '#platform/postgres/audit.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { retryOnLockTimeout, limitLockWaits } from '#platform/postgres/lock-timeout.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'

import { consoleHost, isOfConsoles, labelBelow, labelledSite } from './console-host.ts'
import { domainFault } from './domain.ts'
import {
  type CreateSiteBody,
  type CreatedSite,
  type SiteConfiguration,
  type SiteRecord,
  type SiteRow,
  type UpdateSiteBody,
  configurationOf,
  parseSite,
  parseSuperAdmins,
  siteRecord,
} from './model.ts'
import {
  deleteSite,
  insertSite,
  insertSiteKey,
  lockSite,
  selectLabelledSiteEntry,
  selectSite,
  selectSiteByDomain,
  selectSiteEntry,
  selectSites,
  selectSitesWithAuthNames,
  selectTakenHosts,
  setImportedDeployment,
  updateSite,
} from './queries.ts'
import { SiteDirectory, type SiteEntry } from './site-directory.ts'
import type { Onboarding, SiteLifecycle } from './site-lifecycle.ts'
import { hostsOf } from './site-names.ts'
import type { SiteNames } from './site.ts'
import type { SourceRules } from './source.ts'

const UNIQUE_VIOLATION = '23505'
/** An upload URL is good for a week at most, and what it brings may be on its way for a day. */
const LAST_UPLOAD_SECONDS = 9 * 24 * 3600
/** An operator reads what is found of each. */
const MAX_EXAMINED = 50
const SITE_ID = /^site_[a-z0-9]{12}$/

/** A site as it was elsewhere. */
export type ImportedSite = Omit<CreateSiteBody, 'superAdmins'> &
  Pick<SiteRecord, 'currentDeploymentId'>

/** The tenant directory and what the operator configures about each site. */
export class Sites {
  readonly #deps
  readonly #directory: SiteDirectory

  constructor(
    deps: Pick<
      PlatformServices,
      'database' | 'notifications' | 'queue' | 'clock' | 'ids' | 'disk'
    > & {
      readonly sealer: Sealer
      readonly parts: readonly SiteLifecycle[]
      readonly sourceRules: SourceRules
      readonly consoleDomain: string | undefined
    },
  ) {
    this.#deps = deps
    this.#directory = new SiteDirectory((domain) => this.#entry(domain))
  }

  /** Keeps `byHost` true when another replica changes a site. Call once, before the first request. */
  async watch(): Promise<void> {
    await this.#deps.notifications.listen('croft_site', {
      onMessage: ({ domains }) => this.#invalidate(domains),
      onDoubt: () => this.#directory.doubtAll(),
    })
  }

  /**
   * The site that a Host header names. Synchronous when it is known. Every request begins with one of these two: what is
   * remembered of the site afterwards was confirmed with them.
   */
  byHost(host: string): SiteEntry | undefined | Promise<SiteEntry | undefined> {
    const entry = this.byAnyHost(host)
    return entry instanceof Promise ? entry.then(onItsDomain) : onItsDomain(entry)
  }

  /** The same, if it is in memory; nothing is looked for. */
  inMemory(host: string): SiteEntry | undefined {
    return onItsDomain(this.anyInMemory(host))
  }

  anyInMemory(host: string): SiteEntry | undefined {
    this.#deps.notifications.confirm()
    return this.#directory.inMemory(host)
  }

  /** Also by its other names: on each, only what belongs there is to be answered. */
  byAnyHost(host: string): SiteEntry | undefined | Promise<SiteEntry | undefined> {
    this.#deps.notifications.confirm()
    return this.#directory.byHost(host)
  }

  /** The row, its key and every part of the site, or nothing. */
  async create(body: CreateSiteBody, audit?: Audit<'site.created'>): Promise<CreatedSite> {
    this.#deps.disk.check('database')
    const { database, sealer, clock, ids, parts } = this.#deps
    const configuration = this.#parsed(body)
    const superAdmins = parseSuperAdmins(body.superAdmins ?? [])
    return database.withSite(ids.siteId(), async (tx) => {
      const inserted = insertSite(tx, configuration, clock.now())
      const record = siteRecord(await hostsTaken(inserted, configuration))
      await insertSiteKey(tx, sealer.newSiteKey(tx.siteId))
      const onboarding: Onboarding[] = []
      for (const part of parts) {
        const result = await part.created(tx, record, { superAdmins })
        onboarding.push(...(result.onboarding ?? []))
      }
      await audit?.(tx, { event: 'site.created', detail: { domain: record.domain } })
      await this.announce(tx, [record])
      return { ...record, onboarding }
    })
  }

  /**
   * Throws for a configuration that no site can have here, or for a domain that another site has. An import asks before the work
   * begins.
   */
  async checkImport({ currentDeploymentId: _current, ...body }: ImportedSite): Promise<void> {
    this.#deps.disk.check('database')
    const hosts = hostsOf(this.#parsed(body))
    const taken = await this.#deps.database.withDirectory((tx) => selectTakenHosts(tx, hosts))
    if (taken.length > 0) throw alreadyExists(taken)
  }

  /** The row and the key of a site that came from elsewhere; its caller writes all else in the same transaction. */
  async addImported(
    tx: SiteTx,
    { currentDeploymentId, ...body }: ImportedSite,
  ): Promise<SiteRecord> {
    const { sealer, clock } = this.#deps
    const configuration = this.#parsed(body)
    const inserted = insertSite(tx, configuration, clock.now())
    const record = siteRecord(await hostsTaken(inserted, configuration))
    await setImportedDeployment(tx, currentDeploymentId)
    await insertSiteKey(tx, sealer.newSiteKey(tx.siteId))
    await this.announce(tx, [record])
    return { ...record, currentDeploymentId }
  }

  list(page: PageRequest): Promise<PageRows<SiteRecord>> {
    return this.#deps.database.withDirectory(async (tx) => {
      const { items, lastKey } = pageRows(
        await selectSites(tx, page),
        page.limit,
        (row) => row.domain,
      )
      return { items: items.map(siteRecord), lastKey }
    })
  }

  /** Some of those whose visitors sign in on a name of its own, or did. */
  withAuthNames(): Promise<readonly SiteRecord[]> {
    return this.#deps.database.withDirectory(async (tx) =>
      (await selectSitesWithAuthNames(tx, MAX_EXAMINED)).map(siteRecord),
    )
  }

  get(siteId: string): Promise<SiteRecord> {
    return this.#deps.database.withSite(siteId, (tx) => this.read(tx))
  }

  /** In a transaction of the caller's. */
  async read(tx: SiteTx): Promise<SiteRecord> {
    const row = await selectSite(tx)
    if (!row) throw notFound('Site', tx.siteId)
    return siteRecord(row)
  }

  /** By id or by domain, which never have the same form. Throws `SiteNotFound`. */
  async find(idOrDomain: string): Promise<SiteRecord> {
    if (SITE_ID.test(idOrDomain)) return this.get(idOrDomain)
    const domain = idOrDomain.toLowerCase()
    if (domainFault(domain) !== undefined) throw notFound('Site', idOrDomain)
    const row = await this.#deps.database.withDirectory((tx) => selectSiteByDomain(tx, domain))
    if (!row) throw notFound('Site', idOrDomain)
    return siteRecord(row)
  }

  /** The region never changes: it is part of the ids of the site's pools. */
  update(siteId: string, body: UpdateSiteBody, audit?: Audit<'site.changed'>): Promise<SiteRecord> {
    return retryOnLockTimeout(() =>
      this.#deps.database.withSite(siteId, async (tx) => {
        await limitLockWaits(tx)
        const row = await lockSite(tx)
        if (!row) throw notFound('Site', siteId)
        const record = await this.#update(tx, row, body)
        const { domain, adminDomain, authDomain } = record
        const changed = Object.keys(body).sort().join(' ')
        const names = { domain, adminDomain: adminDomain ?? '', authDomain: authDomain ?? '' }
        await audit?.(tx, { event: 'site.changed', detail: { changed, ...names } })
        return record
      }),
    )
  }

  /** Its rows go at once, its stored objects a moment later. */
  async delete(siteId: string): Promise<void> {
    const { database, queue } = this.#deps
    await retryOnLockTimeout(() =>
      database.withSite(siteId, async (tx) => {
        await limitLockWaits(tx)
        const deleted = await deleteSite(tx)
        if (!deleted) throw notFound('Site', siteId)
        await queue.enqueue(tx, 'site-cleanup', { siteId }, { singletonKey: siteId })
        // Upload URLs to S3 outlive the site that gave them out.
        const late = { singletonKey: `${siteId} late`, startAfterSeconds: LAST_UPLOAD_SECONDS }
        await queue.enqueue(tx, 'site-cleanup', { siteId }, late)
        await this.announce(tx, [configurationOf(deleted)])
      }),
    )
  }

  async #update(tx: SiteTx, row: SiteRow, body: UpdateSiteBody): Promise<SiteRecord> {
    const { clock, parts } = this.#deps
    const configuration = this.#parsed(body, configurationOf(row))
    if (configuration.region !== row.region) {
      throw new AppError(
        'ImmutableField',
        `region: stays "${row.region}", because the site's pool ids carry it; create another site instead`,
      )
    }
    const updated = updateSite(tx, configuration, clock.now())
    const record = siteRecord(await hostsTaken(updated, configuration))
    for (const part of parts) await part.updated?.(tx, record)
    await this.announce(tx, [configurationOf(row), record])
    return record
  }

  /** Has every replica look again for what requests know of these sites, by each of their names, once the transaction is committed. */
  async announce(tx: SiteTx, sites: readonly SiteNames[]): Promise<void> {
    const domains = sites.flatMap(hostsOf)
    // This replica must not wait for its own notification.
    tx.onCommit(() => this.#invalidate(domains))
    await this.#deps.notifications.notify(tx, 'croft_site', { siteId: tx.siteId, domains })
  }

  async #entry(host: string): Promise<SiteEntry | undefined> {
    const row = await this.#row(host)
    if (!row) return undefined
    const { source: _source, deploymentSettings, ...names } = configurationOf(row)
    const { origins: corsOrigins } = deploymentSettings.cors
    const { color, logo_version } = row
    const branding = { color: color ?? undefined, logoVersion: logo_version ?? undefined }
    const where = consoleHost(this.#deps.consoleDomain, names)
    return { siteId: row.site_id, ...names, corsOrigins, branding, consoleHost: where, host }
  }

  /** Below the console domain is nothing but consoles, of sites that have no other name for theirs. */
  async #row(host: string) {
    const { database, consoleDomain } = this.#deps
    const label = labelBelow(consoleDomain, host)
    if (label === undefined) return database.withDirectory((tx) => selectSiteEntry(tx, host))
    const site = labelledSite(label)
    const row = site && (await database.withDirectory((tx) => selectLabelledSiteEntry(tx, site)))
    return row && consoleHost(consoleDomain, configurationOf(row)) === host ? row : undefined
  }

  #invalidate(domains: readonly string[]): void {
    const { consoleDomain } = this.#deps
    const consoles = domains.map((domain) =>
      consoleHost(consoleDomain, { domain, adminDomain: null }),
    )
    this.#directory.invalidate([...domains, ...consoles.filter((name) => name !== undefined)])
  }

  /** What is configured, on no name of consoles but one that the site has had since before. */
  #parsed(body: UpdateSiteBody, current?: SiteConfiguration): SiteConfiguration {
    const { sourceRules, consoleDomain } = this.#deps
    const configuration = parseSite(body, current, sourceRules)
    const kept = current ? hostsOf(current) : []
    for (const field of ['domain', 'adminDomain', 'authDomain'] as const) {
      const name = configuration[field]
      if (name === null || kept.includes(name) || !isOfConsoles(consoleDomain, name)) continue
      throw invalid(field, `"${name}" is of the consoles at ${consoleDomain}: take another name`)
    }
    return configuration
  }
}

const onItsDomain = (entry: SiteEntry | undefined): SiteEntry | undefined =>
  entry?.host === entry?.domain ? entry : undefined

async function hostsTaken<Row>(write: Promise<Row>, site: SiteConfiguration): Promise<Row> {
  try {
    return await write
  } catch (error) {
    if (hasCode(error, UNIQUE_VIOLATION)) {
      throw alreadyExists(hostsOf(site), error)
    }
    throw error
  }
}

const alreadyExists = (hosts: readonly string[], cause?: unknown): AppError =>
  new AppError('SiteAlreadyExists', `Another site has the domain "${hosts.join('" or "')}"`, {
    cause,
  })
