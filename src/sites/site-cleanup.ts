import { sitePrefix } from '#platform/objects/object-store.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Outbox } from '#platform/smtp/outbox.ts'

import type { Artifacts } from './deployments/artifacts.ts'
import {
  lockDeployedSite,
  retireOldDeployments,
  selectReferencedHashes,
} from './deployments/queries.ts'
import { SiteImports } from './imports/site-imports.ts'
import type { RepositoryPacks } from './repository/packs.ts'
import type { EncodedFiles } from './static/encoded-files.ts'
import { deleteRetiredManifests } from './static/queries.ts'

const KEPT_DEPLOYMENTS = 5
const UNFINISHED_MS = 24 * 3_600_000
const LIST_PAGE = 1000

/** Removes data of a deleted site that no foreign key deletes with its row. The layers above implement it. */
export interface SiteDataRemover {
  /** Works in batches. May be called again. */
  removeSite(siteId: string, signal: AbortSignal): Promise<void>
}

/**
 * The handler of the queue `site-cleanup`: forgets a site's old deployments and removes the contents that no deployment
 * names any more; of a site that is gone, everything. Running it twice is fine.
 */
export class SiteCleanup {
  readonly #deps
  readonly #siteImports: SiteImports

  constructor(
    deps: Pick<PlatformServices, 'database' | 'objects' | 'clock' | 'queue' | 'logger'> & {
      readonly artifacts: Artifacts
      readonly encodedFiles: Pick<EncodedFiles, 'stored' | 'delete'>
      readonly packs: Pick<RepositoryPacks, 'sweep'>
      readonly outbox: Outbox
      readonly removers: readonly SiteDataRemover[]
    },
  ) {
    this.#deps = deps
    this.#siteImports = new SiteImports(deps)
  }

  async run({ siteId }: { readonly siteId: string }, signal: AbortSignal): Promise<void> {
    if (!(await this.#forgetOldDeployments(siteId))) {
      // One that is being imported is not there yet.
      if (!(await this.#siteImports.isAlive(siteId))) await this.#removeAll(siteId, signal)
      return
    }
    await this.#sweep(siteId, signal)
    await this.#deps.packs.sweep(siteId, signal)
  }

  /** Returns false when there is no such site. */
  #forgetOldDeployments(siteId: string): Promise<boolean> {
    const { database, clock } = this.#deps
    return database.withSite(siteId, async (tx) => {
      if (!(await lockDeployedSite(tx))) return false
      const unfinishedBefore = new Date(clock.now().getTime() - UNFINISHED_MS)
      await retireOldDeployments(tx, { keep: KEPT_DEPLOYMENTS, unfinishedBefore })
      await deleteRetiredManifests(tx)
      return true
    })
  }

  /** Under the site's lock, so that no deployment begins to rely on contents while they are being removed. */
  #sweep(siteId: string, signal: AbortSignal): Promise<void> {
    const { database, artifacts, encodedFiles } = this.#deps
    return database.withSite(siteId, async (tx) => {
      await lockDeployedSite(tx)
      const wanted = await selectReferencedHashes(tx)
      for (const kept of [artifacts, encodedFiles]) {
        for (const sha256 of (await kept.stored(siteId)).keys()) {
          signal.throwIfAborted()
          if (!wanted.has(sha256)) await kept.delete(siteId, sha256)
        }
      }
    })
  }

  async #removeAll(siteId: string, signal: AbortSignal): Promise<void> {
    const { objects, outbox, removers } = this.#deps
    await outbox.deleteSite(siteId)
    for (const each of removers) await each.removeSite(siteId, signal)
    const prefix = sitePrefix(siteId)
    for (;;) {
      const { objects: found } = await objects.list({ prefix, maxKeys: LIST_PAGE })
      if (found.length === 0) return
      for (const { key } of found) {
        signal.throwIfAborted()
        await objects.delete(key)
      }
    }
  }
}
