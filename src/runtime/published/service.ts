import { LRUCache } from 'lru-cache'

import type { AppError } from '#base/app-error.ts'
import { Chance } from '#base/chance.ts'
import { CoalescingQueue } from '#base/coalescing-queue.ts'
import { LoadingCache } from '#base/loading-cache.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'
import type { SiteIdentity } from '#platform/sandbox-host/call.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { OpenEnvVar } from '#runtime/env-vars/model.ts'
import type { Redaction } from '#runtime/env-vars/redaction.ts'
import type { Secret } from '#runtime/env-vars/secret-matcher.ts'
import type { EnvVars } from '#runtime/env-vars/service.ts'
import type { Revisions } from '#runtime/revisions/service.ts'

import { notProvisioned, updating } from './provisioning.ts'
import { type PublishedSite, atVersion, publishedSite, weightOf } from './published-site.ts'
import { parseRevision } from './revision-document.ts'

const MAX_BYTES = 256 * 1024 * 1024
/** How long an answer about an unknown operation or site stands, so that guessing is no load on the database. */
const UNKNOWN_MS = 500
/** Sites that are read anew at once when messages may have been missed: calls want connections as well. */
const REFRESHED_AT_ONCE = 4

interface Load {
  /** Set by a hint that arrives while the load may already have read what the hint is about. */
  stale: boolean
  readonly result: Promise<PublishedSite>
}

interface ControlPlane {
  readonly revision: number | null
  /** Operations that a waiting sync will bring; empty when none waits. */
  readonly coming: ReadonlySet<string>
}

interface PublishedSitesDeps extends Pick<PlatformServices, 'database' | 'logger'> {
  readonly revisions: Revisions
  /** The version of every operation of the site, by name. */
  operationVersions(tx: SiteTx): Promise<ReadonlyMap<string, string>>
  readonly envVars: EnvVars
  /** Told what calls may see before any of them begins. */
  readonly redaction: Redaction
  /** As it is now; rejects when it is gone. */
  siteOf(siteId: string): Promise<SiteIdentity>
  /** Drops the isolates of a revision that is current no more. */
  retire(programKey: string): void
}

/** The current revision of each site, in memory. What was read once serves until something newer is published. */
export class PublishedSites {
  readonly #deps: PublishedSitesDeps
  readonly #sites: LRUCache<string, PublishedSite>
  /** To note each use takes as long as to find the site. */
  readonly #chance = new Chance()
  readonly #loads = new Map<string, Load>()
  readonly #refreshes = new CoalescingQueue(REFRESHED_AT_ONCE, (siteId) => this.#renew(siteId))
  readonly #unready = new LRUCache<string, AppError>({ max: 1000, ttl: UNKNOWN_MS })
  readonly #controlPlanes = new LoadingCache<string, ControlPlane>({
    entries: { max: 1000, ttl: UNKNOWN_MS },
  })

  constructor(deps: PublishedSitesDeps) {
    this.#deps = deps
    this.#sites = new LRUCache<string, PublishedSite>({
      maxSize: MAX_BYTES,
      sizeCalculation: weightOf,
      dispose: (site, _siteId, reason) => {
        if (reason !== 'set') this.#deps.retire(site.program.key)
      },
    })
  }

  /** Hears of new revisions and versions from all replicas, this one included. */
  async listen(notifications: Notifications): Promise<void> {
    await notifications.listen('croft_revision', {
      onMessage: ({ siteId }) => void this.#refresh(siteId),
      onGap: () => this.#refreshAll(),
    })
    await notifications.listen('croft_cache', {
      onMessage: ({ siteId, operation, version }) => this.advance(siteId, operation, version),
      onGap: () => this.#refreshAll(),
    })
    await notifications.listen('croft_site', {
      onMessage: ({ siteId }) => this.forget(siteId),
      onGap: () => this.#refreshAll(),
    })
  }

  /** Synchronous once the site was asked for. Before the first revision: `DataRuntimeProvisioning`. */
  current(site: SiteIdentity): PublishedSite | Promise<PublishedSite> {
    const { siteId } = site
    const kept = this.#chance.isTaken() ? this.#sites.get(siteId) : this.#sites.peek(siteId)
    return kept ?? this.#load(site)
  }

  /** Only what is in memory. */
  peek(siteId: string): PublishedSite | undefined {
    return this.#sites.peek(siteId)
  }

  /** The next call reads the site again, under the name that it has then; what is being read for others is not kept. */
  forget(siteId: string): void {
    this.#loads.delete(siteId)
    this.#sites.delete(siteId)
  }

  /** For an operation that the current revision lacks: a newer revision that has it, or word that one is coming, or undefined. */
  async loadNewer(site: SiteIdentity, operation: string): Promise<PublishedSite | undefined> {
    const { siteId } = site
    const { revision, coming } = await this.#controlPlanes.get(siteId, () =>
      this.#readControlPlane(siteId),
    )
    // A newer revision may have come in while this was read.
    const loaded = this.peek(siteId)
    const latest = revision === loaded?.revision ? loaded : await this.#loadFresh(site)
    if (latest?.operations.has(operation)) return latest
    if (coming.has(operation)) throw updating(operation)
    return undefined
  }

  /** Resolves when calls on this replica are served by `revision` or a newer one. */
  async waitForRevision(siteId: string, revision: number | null): Promise<void> {
    const site = this.peek(siteId)
    if (!site || revision === null || site.revision >= revision) return
    await this.#loadFresh({ siteId, domain: site.program.siteDomain })
  }

  /** Takes a newer version of an operation as current. */
  advance(siteId: string, operation: string, version: string): void {
    this.#controlPlanes.invalidate(siteId)
    const load = this.#loads.get(siteId)
    if (load) load.stale = true
    const site = this.#sites.peek(siteId)
    const before = site?.operations.get(operation)
    if (!site || !before || BigInt(version) <= BigInt(before.version)) return
    const next = atVersion(before, site.program.siteDomain, version)
    this.#sites.set(siteId, { ...site, operations: new Map(site.operations).set(operation, next) })
  }

  async #refresh(siteId: string): Promise<void> {
    this.#unready.delete(siteId)
    this.#controlPlanes.invalidate(siteId)
    const load = this.#loads.get(siteId)
    if (load) {
      load.stale = true
      return
    }
    const site = this.#sites.peek(siteId)
    if (!site) return
    try {
      await this.#load({ siteId, domain: site.program.siteDomain })
    } catch (error) {
      // What is in memory keeps serving, but it is known to be old: the next call must read.
      this.#deps.logger.warn({ siteId, err: error }, 'a new revision could not be read')
      this.#sites.delete(siteId)
    }
  }

  /** Reads all sites anew, those in use first. What is in memory serves meanwhile, as it did before anybody knew of the gap. */
  #refreshAll(): void {
    for (const load of this.#loads.values()) load.stale = true
    for (const siteId of this.#sites.keys()) void this.#refreshes.add(siteId)
  }

  /** The site may have another name now, or be gone. */
  async #renew(siteId: string): Promise<void> {
    const site = await this.#deps.siteOf(siteId).catch(() => undefined)
    if (site?.domain === this.peek(siteId)?.program.siteDomain) await this.#refresh(siteId)
    else this.forget(siteId)
  }

  /** Whatever is being read may be older than what the caller knows of. */
  #loadFresh(site: SiteIdentity): Promise<PublishedSite> {
    const running = this.#loads.get(site.siteId)
    if (running) running.stale = true
    return this.#load(site)
  }

  #load(site: SiteIdentity): Promise<PublishedSite> {
    const unready = this.#unready.get(site.siteId)
    if (unready) return Promise.reject(unready)
    const running = this.#loads.get(site.siteId)
    if (running) return running.result
    const load: Load = {
      stale: false,
      result: Promise.resolve().then(() => this.#readUntilFresh(site, load)),
    }
    this.#loads.set(site.siteId, load)
    return load.result
  }

  async #readUntilFresh(site: SiteIdentity, load: Load): Promise<PublishedSite> {
    const { siteId } = site
    try {
      for (;;) {
        const read = await this.#read(site)
        if (this.#loads.get(siteId) !== load) return read
        if (!load.stale) return this.#swap(read)
        load.stale = false
      }
    } finally {
      if (this.#loads.get(siteId) === load) this.#loads.delete(siteId)
    }
  }

  #swap(read: PublishedSite): PublishedSite {
    const before = this.#sites.peek(read.siteId)
    const same = before?.revision === read.revision
    // One program object per key: the sandbox knows programs by it.
    const next = same ? { ...read, program: before.program } : read
    this.#sites.set(read.siteId, next)
    if (before && !same) this.#deps.retire(before.program.key)
    return next
  }

  async #read(site: SiteIdentity): Promise<PublishedSite> {
    const found = await this.#deps.database.withSite(site.siteId, async (tx) => {
      const state = await this.#deps.revisions.state(tx)
      const stored = state && (await this.#deps.revisions.current(tx))
      const current = stored && parseRevision(stored)
      if (current) {
        return {
          current,
          versions: await this.#deps.operationVersions(tx),
          env: await this.#deps.envVars.unseal(tx, current.document.env),
          unready: undefined,
        }
      }
      const unreadable = typeof state?.currentRevision === 'number'
      // Nobody asked for a revision yet, or the current one is in another version's format: ask now.
      if (!state || (unreadable && state.synced >= state.requested)) {
        await this.#deps.revisions.request(tx)
      }
      return { unready: notProvisioned(state, unreadable) }
    })
    if (found.unready === undefined) {
      this.#deps.redaction.addSecrets(site.siteId, secretsOf(found.env))
      return publishedSite(site, found.current, found)
    }
    this.#unready.set(site.siteId, found.unready)
    throw found.unready
  }

  #readControlPlane(siteId: string): Promise<ControlPlane> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      const state = await this.#deps.revisions.state(tx)
      const revision = state?.currentRevision ?? null
      const behind = state !== undefined && state.synced < state.requested
      const coming = behind ? (await this.#deps.operationVersions(tx)).keys() : []
      return { revision, coming: new Set(coming) }
    })
  }
}

const secretsOf = (env: ReadonlyMap<string, OpenEnvVar>): Secret[] =>
  [...env].flatMap(([name, { value, secret }]) => (secret ? [{ name, value }] : []))
