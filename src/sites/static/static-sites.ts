import { isServiceUnavailable } from '#base/app-error.ts'
import { CoalescingQueue } from '#base/coalescing-queue.ts'
import { LoadingCache } from '#base/loading-cache.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { type Notifications, SUPERSEDED_MS } from '#platform/postgres/notifications.ts'
import type { PlatformServices } from '#platform/services.ts'
import type {
  ActivationStep,
  CompleteDeployment,
  DeploymentLifecycle,
} from '#sites/deployments/deployment-lifecycle.ts'

import type { ManifestBuilder } from './manifest-builder.ts'
import { NO_FILES } from './manifest.ts'
import {
  deleteManifest,
  selectCurrentDeploymentId,
  selectCurrentManifest,
  selectKeptAssets,
  upsertManifest,
} from './queries.ts'
import { StaticSite } from './static-site.ts'

const MAX_BYTES = 128 * 1024 * 1024
/** Sites that are compared with the database at once, each of them once at a time: guessing names is no load on it. */
const COMPARED_AT_ONCE = 4
/** Sites that are read again concurrently. */
const REFRESHED_AT_ONCE = 4

/**
 * The public files of each site's current deployment, in memory: a request needs no SQL, and all of a deployment's files appear
 * with the same step. What was read once serves until another deployment is current.
 */
export class StaticSites implements DeploymentLifecycle {
  readonly #deps
  readonly #sites = new LoadingCache<string, StaticSite>({
    entries: { maxSize: MAX_BYTES, sizeCalculation: ({ weightBytes }) => weightBytes },
    servesDespite: isServiceUnavailable,
  })
  readonly #refreshes = new CoalescingQueue(REFRESHED_AT_ONCE, (siteId) => this.#renew(siteId))
  readonly #comparisons = new CoalescingQueue(COMPARED_AT_ONCE, (siteId) => this.#compare(siteId))
  #doubts = 0

  constructor(
    deps: Pick<PlatformServices, 'database' | 'notifications' | 'logger'> & {
      readonly manifests: Pick<ManifestBuilder, 'build'>
    },
  ) {
    this.#deps = deps
  }

  /** Receives new deployments from all replicas, this one included. */
  async listen(notifications: Notifications): Promise<void> {
    await notifications.listen('croft_static', {
      onMessage: ({ siteId }) => void this.#supersede(siteId),
      onDoubt: () => {
        this.#doubts += 1
        this.#sites.doubtAll()
      },
    })
  }

  /** Synchronous once the site was asked for. */
  current(siteId: string): StaticSite | Promise<StaticSite> {
    return this.#sites.get(siteId, () => this.#confirmed(siteId))
  }

  /**
   * For a file that `seen` lacks though a request asks for it by its content's name: another replica may have switched already.
   * Undefined when there is nothing newer.
   */
  async newerThan(siteId: string, seen: StaticSite): Promise<StaticSite | undefined> {
    await this.#comparisons.add(siteId)
    const current = await this.current(siteId)
    return current.deploymentId === seen.deploymentId ? undefined : current
  }

  /** Refuses what could not be served. The step makes the files visible in the moment in which the deployment is current. */
  async prepare(deployment: CompleteDeployment): Promise<ActivationStep> {
    const { siteId, deploymentId } = deployment
    const manifest = await this.#deps.manifests.build(deployment)
    return async (tx) => {
      if (manifest) await upsertManifest(tx, deploymentId, manifest)
      else await deleteManifest(tx, deploymentId)
      const site = new StaticSite(deploymentId, manifest ?? NO_FILES, await selectKeptAssets(tx))
      // The client that deployed sees the new files from this replica at once.
      tx.onCommit(() => this.#sites.set(siteId, site))
      await this.#deps.notifications.notify(tx, 'croft_static', { siteId })
    }
  }

  /** What is in memory serves on for a moment at most: then requests wait for what is being read. */
  async #supersede(siteId: string): Promise<void> {
    const before = this.#sites.getIfPresent(siteId)
    const timer = setTimeout(() => {
      if (before !== undefined && this.#sites.getIfPresent(siteId) === before)
        this.#sites.doubt(siteId)
    }, SUPERSEDED_MS)
    try {
      await this.#refreshes.add(siteId)
    } finally {
      clearTimeout(timer)
    }
  }

  /** What is in doubt stays what it is while its deployment is current. */
  async #confirmed(siteId: string): Promise<StaticSite> {
    const doubted = this.#sites.doubted(siteId)
    if (doubted === undefined) return this.#load(siteId)
    const deploymentId = await this.#deps.database.withSite(siteId, selectCurrentDeploymentId)
    return doubted.deploymentId === deploymentId ? doubted : this.#load(siteId)
  }

  #load(siteId: string): Promise<StaticSite> {
    return this.#deps.database.withSite(siteId, readSite)
  }

  /** Reads what is current unless that is what is kept. The query begins after the client has seen a page. */
  async #compare(siteId: string): Promise<void> {
    const deploymentId = await this.#deps.database.withSite(siteId, selectCurrentDeploymentId)
    if (this.#sites.getIfPresent(siteId)?.deploymentId === deploymentId) return
    await this.#refreshes.add(siteId)
  }

  /** Serves what there is until the new one is read. A site without requests is not read. */
  async #renew(siteId: string): Promise<void> {
    // A request for one in doubt waits for it to be confirmed.
    if (this.#sites.doubted(siteId)) return
    const before = this.#sites.getIfPresent(siteId)
    if (!before) return this.#sites.invalidate(siteId)
    const doubts = this.#doubts
    try {
      const read = await this.#load(siteId)
      const kept = this.#sites.getIfPresent(siteId)
      // Something newer may have come while this was read.
      if (doubts === this.#doubts && (kept === before || !kept)) this.#sites.set(siteId, read)
      else void this.#refreshes.add(siteId)
    } catch (error) {
      // It would serve the old deployment until the next one.
      this.#sites.invalidate(siteId)
      this.#deps.logger.warn({ err: error, siteId }, 'static files not refreshed')
    }
  }
}

async function readSite(tx: SiteTx): Promise<StaticSite> {
  const { deploymentId, manifest } = await selectCurrentManifest(tx)
  return new StaticSite(deploymentId, manifest ?? NO_FILES, await selectKeptAssets(tx))
}
