import { AppError } from '#base/app-error.ts'
import type { ErrorCode } from '#base/error-status.ts'
import type { GuestFailure } from '#sandbox/protocol/protocol.ts'

import type { PendingCall } from './pending-call.ts'

const DEFAULT_SECONDS = 1
/** Errors of the service that pass, for any caller: a part is away, or overloaded. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'DataRuntimeProvisioning',
  'DiskFull',
  'OperationInterrupted',
  'OperationOverloaded',
  'ServiceUnavailable',
  'TooManyRequests',
])

/** Remembers with a call what its code was refused for a while: when it throws just that, the code is not to blame. */
export function rememberRefusal(asker: PendingCall, error: unknown): void {
  if (!(error instanceof AppError) || !PASSING.has(error.code)) return
  asker.refusals ??= new Map()
  asker.refusals.set(error.code, error.retryAfterSeconds ?? DEFAULT_SECONDS)
}

/** The failure of a call, with `retryAfterSeconds` where it is such a refusal. An isolate cannot claim one that was not made. */
export function asPassing(failure: GuestFailure, call: PendingCall | undefined): GuestFailure {
  if (failure.kind !== 'thrown' || failure.code === undefined) return failure
  const retryAfterSeconds = call?.refusals?.get(failure.code)
  return retryAfterSeconds === undefined ? failure : { ...failure, retryAfterSeconds }
}
