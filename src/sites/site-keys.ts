import { LRUCache } from 'lru-cache'

import { notFound } from '#base/app-error.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { WrappedSiteKey } from '#platform/seal/sealer.ts'

import { selectSiteKey } from './queries.ts'

const REMEMBERED = 10_000

/** Each site's sealing key, wrapped. A key never changes, so it is read once and then kept in memory. */
export class SiteKeys {
  readonly #keys = new LRUCache<string, WrappedSiteKey>({ max: REMEMBERED })

  async wrapped(tx: SiteTx): Promise<WrappedSiteKey> {
    const known = this.#keys.get(tx.siteId)
    if (known) return known
    const wrappedKey = await selectSiteKey(tx)
    if (!wrappedKey) throw notFound('Site', tx.siteId)
    const key: WrappedSiteKey = { siteId: tx.siteId, wrappedKey }
    // Not a LoadingCache: this transaction may have written the key and be rolled back, so it is kept after the commit only.
    tx.onCommit(() => this.#keys.set(tx.siteId, key))
    return key
  }
}
