import { AppError } from '#base/app-error.ts'
import type { Call } from '#platform/sandbox-host/call.ts'
import type { PublishedOperation, PublishedSite } from '#runtime/published/published-site.ts'

/** A call, with the operation of the current revision that it was admitted to. */
export interface AdmittedCall {
  readonly call: Call
  readonly site: PublishedSite
  readonly operation: PublishedOperation
}

/** Throws unless the authority of the call opens the operation. A stranger's call came by `/data/public`, or from one that did. */
export function admit({ authority }: Call, { name, auth, groups }: PublishedOperation): void {
  if (authority === 'system') return
  if (authority === null) {
    if (auth.mode === 'public') return
    throw new AppError(
      'Unauthorized',
      `Operation "${name}" is not public: call /data/${name} with an access token`,
    )
  }
  if (auth.mode === 'groups' && !authority.groups.some((group) => groups.has(group))) {
    throw new AppError('Forbidden', `Operation "${name}" is for members of certain groups only`)
  }
}
