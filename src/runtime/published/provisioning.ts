import { AppError } from '#base/app-error.ts'
import type { SyncState } from '#runtime/revisions/model.ts'

type ProvisioningStatus = 'provisioning' | 'updating' | 'repairing'

/** There is no revision to serve: the first one is being made, or a sync that failed is being tried again. */
export function notProvisioned(state: SyncState | undefined, unreadable: boolean): AppError {
  return unreadable || state?.status === 'failed'
    ? retryLater('repairing', 'The data runtime of this site is being repaired: try again shortly')
    : retryLater('provisioning', 'The data runtime of this site is being set up: try again shortly')
}

/** The operation exists, but the revision that serves it is not published yet. */
export const updating = (operation: string): AppError =>
  retryLater('updating', `Operation "${operation}" is being published: try again shortly`)

const retryLater = (status: ProvisioningStatus, message: string): AppError =>
  new AppError('DataRuntimeProvisioning', message, {
    retryAfterSeconds: 1,
    fields: { retryable: true, status },
  })
