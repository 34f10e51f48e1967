import { LRUCache } from 'lru-cache'

import { AppError, isServiceUnavailable } from '#base/app-error.ts'
import { CoalescingQueue } from '#base/coalescing-queue.ts'
import { hasCode } from '#base/error-code.ts'
import { LoadingCache } from '#base/loading-cache.ts'
import { type Notifications, SUPERSEDED_MS } from '#platform/postgres/notifications.ts'
import type { SiteIdentity } from '#platform/sandbox-host/call.ts'
import type { Program } from '#platform/sandbox-host/sandbox.ts'
import type { PlatformServices } from '#platform/services.ts'

import { KeptSites } from './kept-sites.ts'
import { updating } from './provisioning.ts'
import { type PublishedSite, atVersion } from './published-site.ts'
import { type ReadPublishedDeps, readPublished } from './read-published.ts'

/** How long an answer about an unknown operation or site is valid, so that guessing is no load on the database. */
const UNKNOWN_MS = 500
/** Sites that are read again concurrently when messages may have been missed: calls want connections as well. */
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

interface PublishedSitesDeps extends ReadPublishedDeps, Pick<PlatformServices, 'logger'> {
  /** As it is now; rejects when it is gone. */
  siteOf(siteId: string): Promise<SiteIdentity>
  /** Drops the isolates of a revision that is current no more. */
  retire(program: Program): void
}

/** The current revision of each site, in memory. What was read once serves until something newer is published. */
export class PublishedSites {
  readonly #deps: PublishedSitesDeps
  readonly #sites: KeptSites
  readonly #loads = new Map<string, Load>()
  readonly #refreshes = new CoalescingQueue(REFRESHED_AT_ONCE, (siteId) => this.#renew(siteId))
  readonly #unready = new LRUCache<string, AppError>({ max: 1000, ttl: UNKNOWN_MS })
  readonly #controlPlanes = new LoadingCache<string, ControlPlane>({
    entries: { max: 1000, ttl: UNKNOWN_MS },
  })

  constructor(deps: PublishedSitesDeps) {
    this.#deps = deps
    this.#sites = new KeptSites((program) => deps.retire(program))
  }

  /** Receives new revisions and versions from all replicas, this one included. */
  async listen(notifications: Notifications): Promise<void> {
    await notifications.listen('croft_revision', {
      onMessage: ({ siteId }) => void this.#refresh(siteId),
      onDoubt: () => this.#doubtAll(),
      onGap: () => this.#refreshAll(),
    })
    await notifications.listen('croft_cache', {
      onMessage: ({ siteId, operation, version }) => this.advance(siteId, operation, version),
    })
    await notifications.listen('croft_site', { onMessage: ({ siteId }) => this.forget(siteId) })
  }

  /** Synchronous once the site was asked for. Before the first revision: `DataRuntimeProvisioning`. */
  current(site: SiteIdentity): PublishedSite | Promise<PublishedSite> {
    const { siteId } = site
    return this.#sites.get(siteId) ?? this.#load(site)
  }

  /** Only what is in memory, and not in doubt. */
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

  /** What is in memory serves on for a moment at most: then calls wait for what is being read. */
  async #refresh(siteId: string): Promise<void> {
    this.#unready.delete(siteId)
    this.#controlPlanes.invalidate(siteId)
    const site = this.#sites.peekKept(siteId)
    const load = this.#loads.get(siteId)
    if (load) load.stale = true
    if (!site) return
    const timer = setTimeout(() => this.#doubt(site), SUPERSEDED_MS)
    try {
      await (load?.result ?? this.#load({ siteId, domain: site.program.siteDomain }))
    } catch (error) {
      // What is in memory is known to be old: the next call must read.
      this.#deps.logger.warn({ siteId, err: error }, 'a new revision could not be read')
      this.#doubt(site)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Unless another revision has taken its place. */
  #doubt({ siteId, revision }: PublishedSite): void {
    if (this.#sites.peekKept(siteId)?.revision === revision) this.#sites.doubt(siteId)
  }

  #doubtAll(): void {
    this.#loads.clear()
    this.#sites.doubtAll()
  }

  /** Confirms all sites without a request so far, those in use first: an earlier request waits. */
  #refreshAll(): void {
    for (const siteId of this.#sites.ids()) void this.#refreshes.add(siteId)
  }

  /** The site may have another name now, or be gone. */
  async #renew(siteId: string): Promise<void> {
    if (!this.#sites.isDoubted(siteId)) return
    try {
      const site = await this.#deps.siteOf(siteId)
      const kept = this.#sites.peekKept(siteId)
      if (kept !== undefined && site.domain !== kept.program.siteDomain) this.forget(siteId)
      else if (this.#sites.isDoubted(siteId)) await this.#load(site)
    } catch (error) {
      // It stays in doubt: the next call looks again.
      if (hasCode(error, 'SiteNotFound')) this.forget(siteId)
      else this.#deps.logger.warn({ siteId, err: error }, 'a site could not be read again')
    }
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
    } catch (error) {
      const doubted = this.#doubted(site)
      if (doubted === undefined || !isServiceUnavailable(error)) throw error
      // It is unknown whether it is current; who may call it is another question.
      return doubted
    } finally {
      if (this.#loads.get(siteId) === load) this.#loads.delete(siteId)
    }
  }

  #swap(read: PublishedSite): PublishedSite {
    const before = this.#sites.peekKept(read.siteId)
    const same = before?.revision === read.revision
    // One program object per key: the sandbox knows programs by it.
    const next = same ? { ...read, program: before.program } : read
    this.#sites.set(read.siteId, next)
    if (before && !same) this.#deps.retire(before.program)
    return next
  }

  async #read(site: SiteIdentity): Promise<PublishedSite> {
    const read = await readPublished(this.#deps, site, this.#doubted(site))
    if (!(read instanceof AppError)) return read
    this.#unready.set(site.siteId, read)
    throw read
  }

  #doubted({ siteId, domain }: SiteIdentity): PublishedSite | undefined {
    const kept = this.#sites.isDoubted(siteId) ? this.#sites.peekKept(siteId) : undefined
    return kept?.program.siteDomain === domain ? kept : undefined
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
