import { AppError } from './app-error.ts'
import { hasCode } from './error-code.ts'

/** Serialization failure, deadlock, lock not available, statement cancelled for its time, too many connections, cannot connect now. */
const BUSY = ['40001', '40P01', '55P03', '57014', '53300', '57P03']

/** What PostgreSQL gave up for lack of time, locks or connections, as the error that asks a client to try again. */
export const databaseBusy = (error: unknown): AppError | undefined =>
  hasCode(error, ...BUSY)
    ? new AppError('ServiceUnavailable', 'The database is busy with other changes: try again', {
        cause: error,
        retryAfterSeconds: 1,
      })
    : undefined
