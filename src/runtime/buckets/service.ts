import type { BucketAnswer } from './answers.ts'
import type { Bucket, BucketAction } from './bucket.ts'

/** Checks its input and answers in plain JSON. */
export type RunBucketAction = (
  bucket: Bucket,
  input: unknown,
  holder?: string,
) => Promise<BucketAnswer>

/** What can be done with the objects of a bucket, for admins, presets and site code alike. */
export class Buckets {
  readonly #actions: Readonly<Record<BucketAction, RunBucketAction>>

  constructor(actions: Readonly<Record<BucketAction, RunBucketAction>>) {
    this.#actions = actions
  }

  /**
   * `input` is the action's JSON body. Throws `ValidationError`, `InvalidNextToken`, `ObjectNotFound`, `PayloadTooLarge`,
   * `PreconditionFailed`, `QuotaExceeded`, and `ResourceNotFound` when the bucket was deleted meanwhile. With a `holder`,
   * the caller whom upload URLs are given to, `TooManyRequests` when that one has too many of them.
   */
  async perform(
    bucket: Bucket,
    action: BucketAction,
    input: unknown,
    holder?: string,
  ): Promise<BucketAnswer> {
    return this.#actions[action](bucket, input, holder)
  }
}
