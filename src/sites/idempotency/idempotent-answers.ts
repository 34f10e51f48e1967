import { createHash, timingSafeEqual } from 'node:crypto'

import { AppError } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'

import { claimKey, selectAnswer, updateAnswer } from './queries.ts'

const LIFETIME_MS = 24 * 60 * 60 * 1000

/** A request that may come twice. */
export interface RepeatableRequest {
  /** Route and caller: the same key of another caller is another key. */
  readonly scope: string
  /** What the caller sent as `Idempotency-Key`. */
  readonly key: string
  /** SHA-256 of what was asked for. */
  readonly digest: Buffer
}

/** Keeps first answers for 24 hours, so that a client that lost one may send its request again. */
export class IdempotentAnswers {
  readonly #clock: Clock

  constructor(deps: { clock: Clock }) {
    this.#clock = deps.clock
  }

  /** The answer of the first request with that key, if it came; for work that is too expensive to be done twice. */
  async find<Answer>(
    tx: SiteTx,
    { scope, key, digest }: RepeatableRequest,
  ): Promise<Answer | undefined> {
    const stored = await selectAnswer(tx, answerKeyOf(scope, key))
    if (!stored || stored.expiresAt <= this.#clock.now()) return undefined
    return replayOf(stored, digest)
  }

  /**
   * The answer of the first request with that key: `work` runs for this one only, in the same transaction, so that there
   * are both or neither. Of two at once the second waits. A failure leaves the key free. The answer must be JSON, and no
   * secret; another request under the same key is `IdempotencyKeyReused`.
   */
  async once<Answer>(
    tx: SiteTx,
    { scope, key, digest }: RepeatableRequest,
    work: () => Promise<Answer>,
  ): Promise<Answer> {
    const now = this.#clock.now()
    const answerKey = answerKeyOf(scope, key)
    const expiresAt = new Date(now.getTime() + LIFETIME_MS)
    const first = await claimKey(tx, { ...answerKey, requestDigest: digest, now, expiresAt })
    if (!first) return replayOf(await selectAnswer(tx, answerKey), digest)
    const answer = await work()
    await updateAnswer(tx, answerKey, JSON.stringify(answer))
    await deleteExpired(tx, 'idempotent_answer', now)
    return answer
  }
}

const answerKeyOf = (scope: string, key: string) => ({
  scope,
  keyHash: createHash('sha256').update(key).digest(),
})

function replayOf<Answer>(
  stored: Awaited<ReturnType<typeof selectAnswer>>,
  digest: Buffer,
): Answer {
  // The key was taken a moment ago and has expired since: a retry finds it free.
  if (!stored) throw new AppError('ServiceUnavailable', 'Try again', { retryAfterSeconds: 1 })
  if (!timingSafeEqual(stored.requestDigest, digest)) {
    throw new AppError(
      'IdempotencyKeyReused',
      'This Idempotency-Key came with another request before: use a new key for each request',
    )
  }
  return storedAnswer(stored.answer)
}

/** Trusts the type of the caller: a scope has one kind of answer. */
function storedAnswer<Answer>(stored: unknown): Answer {
  if (typeof stored !== 'string') throw new Error('The answer of this key was never written')
  return JSON.parse(stored) as Answer
}
