import { AppError } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'

/** Postgres's codes for two transactions that stood in each other's way: serialization failure, deadlock. */
const CONFLICT_CODES = ['40001', '40P01']
const MOST_TRIES = 5

/** Another writer came first where nothing could be locked: the transaction begins again. */
export class WriteConflict extends Error {
  readonly code = '40001'
}

/** Runs a transaction again when it lost a race; after five losses it is 503. */
export async function retryOnConflict<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isConflict(error)) throw error
      if (tries >= MOST_TRIES) throw tooBusy(error)
    }
  }
}

export const tooBusy = (cause?: unknown): AppError =>
  new AppError('ServiceUnavailable', 'The item is being changed by many at once: try again', {
    cause,
    retryAfterSeconds: 1,
  })

const isConflict = (error: unknown): boolean => hasCode(error, ...CONFLICT_CODES)
