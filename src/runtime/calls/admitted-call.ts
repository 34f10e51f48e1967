import type { AppError } from '#base/app-error.ts'
import type { CallAuthority } from '#platform/sandbox-host/sandbox.ts'
import type { PublishedOperation, PublishedSite } from '#runtime/published/published-site.ts'

import type { Caller } from './admission.ts'

/** A call that was admitted to an operation of the current revision. */
export interface AdmittedCall {
  readonly site: PublishedSite
  readonly siteId: string
  readonly operation: PublishedOperation
  readonly requestId: string
  readonly visitor: Caller | null
  /** Whose rights the calls have that it makes itself. */
  readonly authority: CallAuthority
  /** Calls that wait for it: 0 for one from outside. */
  readonly depth: number
  /** Where its visitor is; undefined for a call of the site's own. */
  readonly address?: string | undefined
  /** Aborted when nobody waits for it any more. */
  readonly signal?: AbortSignal | undefined
  /** Aborted when its visitor has left: what has begun goes on. */
  readonly visitorSignal?: (() => AbortSignal) | undefined
  /** Bounded already. */
  readonly body: string
}

/** The finished envelope, or the error for each of those who waited for it. */
export type RunOutcome = { readonly body: string } | { readonly error: FlightError }
export type FlightError = (requestId: string) => AppError
