import { sql } from 'kysely'

import { AppError } from '#base/app-error.ts'
import { backoffMs } from '#base/backoff.ts'
import { hasCode } from '#base/error-code.ts'
import { retry } from '#base/retry.ts'

import type { Tx } from './database.ts'

const ATTEMPTS = 20
/** `lock_not_available` and `deadlock_detected`. */
const BUSY = ['55P03', '40P01']

/**
 * Deleting a site locks its rows in the order of their foreign keys, and a new domain locks the site's row as a deletion would;
 * others lock in the order of their work. Waiting less than the second after which Postgres looks for deadlocks makes this
 * transaction the one that is cancelled.
 */
export async function limitLockWaits(tx: Tx): Promise<void> {
  await sql`set local lock_timeout = '200ms'`.execute(tx.db)
}

/** Runs a transaction that limits its lock waits, again and again until it finds its locks free. */
export const retryOnLockTimeout = <T>(transaction: () => Promise<T>): Promise<T> =>
  retry(transaction, {
    attempts: ATTEMPTS,
    isRetryable: (error) => hasCode(error, ...BUSY),
    delayMs: (attempt) => backoffMs(attempt, { baseMs: 20, maxMs: 500 }),
    exhausted: (cause) =>
      new AppError('ServiceUnavailable', 'The site is busy with other changes: try again', {
        cause,
        retryAfterSeconds: 5,
      }),
  })
