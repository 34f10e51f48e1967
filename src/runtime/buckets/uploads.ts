import type { ObjectHead } from '#platform/objects/object-store.ts'

import type { BucketAccounts } from './accounts/service.ts'
import { spotOf } from './store-key.ts'

/** Uploads through signed URLs that lead to the service itself. */
export class BucketUploads {
  readonly #accounts: BucketAccounts

  constructor(accounts: BucketAccounts) {
    this.#accounts = accounts
  }

  /** Counts what is put under a bucket's key, and refuses what has no room any more; other keys are none of its business. */
  take(
    upload: { readonly storeKey: string; readonly sizeBytes: number; readonly holder?: string },
    put: () => Promise<ObjectHead>,
  ): Promise<ObjectHead> {
    const { storeKey, ...incoming } = upload
    const spot = spotOf(storeKey)
    return spot ? this.#accounts.write(spot, incoming, put) : put()
  }
}
