import { setTimeout as delay } from 'node:timers/promises'

interface RetryOptions {
  /** Tries in all. Without a limit when left out. */
  readonly attempts?: number
  readonly isRetryable: (error: unknown) => boolean
  /** Milliseconds to wait after the attempt of that number, counted from 1. None when left out. */
  readonly delayMs?: (attempt: number) => number
  /** Makes the error after the last attempt of what was thrown last, which is thrown itself when this is left out. */
  readonly exhausted?: (cause: unknown) => Error
  /** Ends the waiting: then rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

/** Runs `work` until it succeeds. Rejects with what it throws when that is not retryable. */
export async function retry<Result>(
  work: (attempt: number) => Promise<Result>,
  { attempts = Infinity, isRetryable, delayMs, exhausted, signal }: RetryOptions,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt)
    } catch (error) {
      if (!isRetryable(error)) throw error
      if (attempt >= attempts) throw exhausted?.(error) ?? error
    }
    if (delayMs) await delay(delayMs(attempt), undefined, { signal }).catch(() => {})
    signal?.throwIfAborted()
  }
}
