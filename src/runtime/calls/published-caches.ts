import { AppError } from '#base/app-error.ts'
import type { OperationCaches } from '#runtime/operations/service.ts'
import type { PublishedSite } from '#runtime/published/published-site.ts'
import type { PublishedSites } from '#runtime/published/service.ts'
import type { Site } from '#sites/site.ts'

import type { ResponseCache } from './response-cache.ts'

/** Drops what an operation answered before, on this replica and on the level that replicas share. */
export class PublishedCaches implements OperationCaches {
  readonly #deps: { readonly published: PublishedSites; readonly cache: ResponseCache }

  constructor(deps: { readonly published: PublishedSites; readonly cache: ResponseCache }) {
    this.#deps = deps
  }

  async invalidateAfter(
    site: Site,
    operation: string,
    change: () => Promise<string>,
  ): Promise<number> {
    // Read before the change: word of it may come back to this replica before the commit does.
    const before = (await this.#current(site))?.operations.get(operation)
    const version = await change()
    this.#deps.published.advance(site.siteId, operation, version)
    return before ? this.#deps.cache.dropGroup(site.siteId, before.cacheGroup) : 0
  }

  async #current(site: Site): Promise<PublishedSite | undefined> {
    try {
      return await this.#deps.published.current(site)
    } catch (error) {
      // Without a revision nothing was ever answered.
      if (error instanceof AppError && error.code === 'DataRuntimeProvisioning') return undefined
      throw error
    }
  }
}
