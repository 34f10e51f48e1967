import { AppError } from '#base/app-error.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import { deleteImport, insertImport, renewImport, selectIsAlive } from './queries.ts'

const RENEWED_EVERY_MS = 30_000
/** Without a sign of life for so long, an import counts as given up. */
const DEAD_SECONDS = 600
/** When to check whether an import was given up. */
const LOOK_SECONDS = 900

/** An import in progress. Disposing it before `finish` was committed leaves nothing of it. */
export interface OpenImport extends AsyncDisposable {
  readonly siteId: string
  /** In the transaction that makes the site visible. Throws when the import was taken for dead. */
  finish(tx: SiteTx): Promise<void>
}

/** Which sites are being imported: what is stored for one that never comes into being is removed. */
export class SiteImports {
  readonly #deps

  constructor(deps: Pick<PlatformServices, 'database' | 'queue' | 'logger'>) {
    this.#deps = deps
  }

  /** Before anything is stored under the id. */
  async begin(siteId: string, domain: string): Promise<OpenImport> {
    const { database } = this.#deps
    await database.withSite(siteId, async (tx) => {
      await insertImport(tx, domain)
      await this.#look(tx)
    })
    const renewal = setInterval(() => void this.#renew(siteId), RENEWED_EVERY_MS)
    renewal.unref()
    let isDone = false
    return {
      siteId,
      async finish(tx) {
        if (!(await deleteImport(tx))) throw interrupted(domain)
        tx.onCommit(() => {
          isDone = true
        })
      },
      [Symbol.asyncDispose]: async () => {
        clearInterval(renewal)
        if (!isDone) await this.#abandon(siteId)
      },
    }
  }

  /** True while the site is being imported; then it is looked at again later. Else whatever is stored may go. */
  async isAlive(siteId: string): Promise<boolean> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      if (await selectIsAlive(tx, DEAD_SECONDS)) {
        await this.#look(tx)
        return true
      }
      await deleteImport(tx)
      return false
    })
  }

  async #look(tx: SiteTx): Promise<void> {
    const { siteId } = tx
    const options = { singletonKey: `${siteId} import`, startAfterSeconds: LOOK_SECONDS }
    await this.#deps.queue.enqueue(tx, 'site-cleanup', { siteId }, options)
  }

  async #renew(siteId: string): Promise<void> {
    const { database, logger } = this.#deps
    try {
      await database.withSite(siteId, renewImport)
    } catch (error) {
      logger.warn({ siteId, err: error }, 'an import could not say that it goes on')
    }
  }

  /** What cannot be recorded now is found by a later check. */
  async #abandon(siteId: string): Promise<void> {
    const { database, queue, logger } = this.#deps
    try {
      await database.withSite(siteId, async (tx) => {
        await deleteImport(tx)
        await queue.enqueue(tx, 'site-cleanup', { siteId }, { singletonKey: siteId })
      })
    } catch (error) {
      logger.warn({ siteId, err: error }, 'what an import left is removed later')
    }
  }
}

const interrupted = (domain: string): AppError =>
  new AppError(
    'ServiceUnavailable',
    `The import of "${domain}" made no progress for so long that it was given up: import it again`,
    { retryAfterSeconds: 1 },
  )
