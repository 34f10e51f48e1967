import { AppError } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'
import { retry } from '#base/retry.ts'

/** Postgres's codes for two transactions in conflict: serialization failure, deadlock. */
const CONFLICT_CODES = ['40001', '40P01']
const ATTEMPTS = 5

/** Another writer came first where nothing could be locked: the write begins again. */
export class WriteConflict extends Error {
  readonly code = '40001'
}

/** Runs a write again when another one came first; it is 503 when that has happened each time. */
export const retryOnConflict = <Result>(
  work: (attempt: number) => Promise<Result>,
  attempts = ATTEMPTS,
): Promise<Result> =>
  retry(work, {
    attempts,
    isRetryable: (error) => hasCode(error, ...CONFLICT_CODES),
    exhausted: tooBusy,
  })

export const tooBusy = (cause?: unknown): AppError =>
  new AppError('ServiceUnavailable', 'The item is being changed by many at once: try again', {
    cause,
    retryAfterSeconds: 1,
  })
