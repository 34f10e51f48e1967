import { AppError } from '#base/app-error.ts'
import { ipPrefix } from '#base/ip-prefix.ts'
import { Limiter } from '#base/limiter.ts'
import { t } from '#languages/message.ts'

interface SignInLimits {
  /** Pieces of work that run at once. */
  readonly permits: number
  /** Pieces of work that may wait, of one network and of all. */
  readonly maxQueued: number
  readonly maxQueuedInAll: number
}

/**
 * Bounds the costly work of sign-ins that runs at once, and how much may wait for it; 503 for everyone beyond. Networks take
 * turns, and have their own places to wait: a crowd from one of them delays no other.
 */
export class SignInLimiter {
  readonly #limiter: Limiter

  constructor(limits: SignInLimits) {
    this.#limiter = new Limiter({
      ...limits,
      reservedQueue: limits.maxQueuedInAll,
      refuse: () =>
        new AppError('ServiceUnavailable', t('error.too-many-sign-ins'), {
          retryAfterSeconds: 2,
        }),
    })
  }

  /** `address` is that of the client; one client has few /48 networks. */
  run<Result>(address: string, work: () => Promise<Result>): Promise<Result> {
    return this.#limiter.run(work, { key: ipPrefix(address, 48) })
  }
}
