import type { ObjectHead } from '#platform/objects/object-store.ts'

import type { BucketQuotas } from './quotas/service.ts'
import { objectRefOf } from './store-key.ts'

/** Uploads through signed URLs that lead to the service itself. */
export class BucketUploads {
  readonly #accounts: BucketQuotas

  constructor(accounts: BucketQuotas) {
    this.#accounts = accounts
  }

  /** Counts what is put under a bucket's key, and refuses what has no room any more; other keys are none of its business. */
  take(
    upload: { readonly storeKey: string; readonly sizeBytes: number; readonly holder?: string },
    put: () => Promise<ObjectHead>,
  ): Promise<ObjectHead> {
    const { storeKey, ...incoming } = upload
    const spot = objectRefOf(storeKey)
    return spot ? this.#accounts.write(spot, incoming, put) : put()
  }
}
