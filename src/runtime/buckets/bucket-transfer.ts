import type { Clock } from '#base/clock.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { ObjectName } from './quotas/model.ts'
import { insertBucketUsage, insertObjects } from './quotas/transfer-queries.ts'

/** Accounts for objects in the store of a site that is not in use yet. */
export class BucketTransfer {
  readonly #clock: Clock

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock
  }

  async add(
    tx: SiteTx,
    objects: readonly (ObjectName & { readonly sizeBytes: number })[],
  ): Promise<void> {
    if (objects.length > 0) await insertObjects(tx, objects)
  }

  /** Opens the account when all of them are there. */
  open(tx: SiteTx): Promise<void> {
    return insertBucketUsage(tx, this.#clock.now())
  }
}
