import type { Actor } from '#base/actor.ts'
import { notFound } from '#base/app-error.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { Suppression } from './model.ts'
import {
  deleteSuppression,
  insertSuppression,
  selectSuppressedAmong,
  selectSuppressions,
} from './suppression-queries.ts'

/** Addresses that a site sends nothing to, because mail to them bounced permanently. */
export class Suppressions {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly events: Pick<SecurityEvents, 'record'>
    },
  ) {
    this.#deps = deps
  }

  /** `detail` is what the other server said. An address that is there already stays as it is. */
  async add(tx: SiteTx, address: string, detail: string): Promise<void> {
    await insertSuppression(tx, address.toLowerCase(), detail, this.#deps.clock.now())
  }

  /** Those of these addresses, given in lower case, that get nothing. */
  among(tx: SiteTx, addresses: readonly string[]): Promise<ReadonlySet<string>> {
    return selectSuppressedAmong(tx, addresses)
  }

  /** By address. */
  async list(siteId: string, page: PageRequest): Promise<PageRows<Suppression>> {
    const rows = await this.#deps.database.withSite(siteId, (tx) =>
      selectSuppressions(tx, { limit: page.limit + 1, after: page.after }),
    )
    const { items, lastKey } = pageRows(rows, page.limit, ({ address }) => address)
    return {
      items: items.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() })),
      lastKey,
    }
  }

  /** Mail goes there again. 404 `SuppressionNotFound`. */
  async remove(siteId: string, by: Actor, address: string): Promise<void> {
    await this.#deps.database.withSite(siteId, async (tx) => {
      if (!(await deleteSuppression(tx, address.toLowerCase()))) {
        throw notFound('Suppression', address)
      }
      await this.#deps.events.record(tx, {
        event: 'mail-suppression.removed',
        by,
        detail: { address: address.toLowerCase() },
      })
    })
  }
}
