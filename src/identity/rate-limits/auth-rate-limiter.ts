import { AppError } from '#base/app-error.ts'
import { networkOf } from '#base/network-of.ts'
import { canonicalEmail } from '#identity/email.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'

import type { CountedAttempt, FailureKey, CounterKind, FailureCounter } from './failure-counter.ts'

/** One network's tries at an account that are counted against all networks: with patience alone nobody shuts its owner out. */
const MAX_COUNTED_FOR_ALL_NETWORKS = 5

/** Whose secret is guessed, and from where. The account need not exist. */
export interface AttemptContext extends PoolRequest {
  readonly email: string
}

/** A try at a secret that counts as failed until it is said to have succeeded. */
export interface Attempt {
  succeeded(): Promise<void>
  /** It was never made: something of ours failed. */
  withdrawn(): Promise<void>
}

/** The gate before every guess at a password or mailed code, and before every mail that somebody asks for. */
export class AuthRateLimiter {
  readonly #attempts: FailureCounter
  readonly #events: SecurityEvents

  constructor(deps: { attempts: FailureCounter; events: SecurityEvents }) {
    this.#attempts = deps.attempts
    this.#events = deps.events
  }

  /** 429 while the account or the address has to wait; then nothing may be worked out for the caller. */
  async begin(secret: 'account' | 'code', at: AttemptContext): Promise<Attempt> {
    const here = accountFromNetwork(secret, at)
    const others = [accountFromAnywhere(`${secret}-anywhere`, at), networkKey('address', at)]
    const counted = await this.#admit([here, ...others], at)
    return {
      // Only what failed here is forgiven: others may go on guessing while the owner comes and goes.
      succeeded: async () => {
        await this.#takeBack(counted.filter((key) => key !== here))
        await this.#attempts.clear(here)
      },
      withdrawn: () => this.#takeBack(counted),
    }
  }

  /** Begins a try and makes it; `guess` gives undefined when the secret was wrong. */
  async attempt<T>(
    secret: 'account' | 'code',
    at: AttemptContext,
    guess: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const attempt = await this.begin(secret, at)
    try {
      const outcome = await guess()
      if (outcome !== undefined) await attempt.succeeded()
      return outcome
    } catch (error) {
      await attempt.withdrawn()
      throw error
    }
  }

  /** Counts a mail that is about to be asked for; 429 when that were too many. */
  async beginMail(at: AttemptContext): Promise<void> {
    const keys = [
      accountFromNetwork('mail', at),
      accountFromAnywhere('mail-anywhere', { ...at, email: mailboxOf(at.email) }),
      networkKey('mail-address', at),
    ]
    await this.#admit(keys, at)
  }

  /** For an account whose owner has proven to be there in another way. */
  async reset(at: AttemptContext): Promise<void> {
    await Promise.all([
      this.#attempts.clear(accountFromNetwork('account', at)),
      this.#attempts.clear(accountFromAnywhere('account-anywhere', at)),
    ])
  }

  /**
   * One gate after the other, the narrowest first: who is turned away by it must not be felt at the next ones, which stand
   * in front of others too. Gives those that have counted.
   */
  async #admit(keys: readonly FailureKey[], at: AttemptContext): Promise<readonly FailureKey[]> {
    const counted: FailureKey[] = []
    let countHere = 0
    for (const key of keys) {
      const isFelt = countHere <= MAX_COUNTED_FOR_ALL_NETWORKS || !key.kind.endsWith('-anywhere')
      const { count, waitSeconds, firstRefusal } = await this.#pass(key, isFelt)
      if (waitSeconds > 0) {
        await this.#takeBack(counted)
        if (firstRefusal) await this.#noteBlocked(at, key.kind, waitSeconds)
        throw tooManyAttempts(waitSeconds)
      }
      if (counted.length === 0) countHere = count
      if (isFelt) counted.push(key)
    }
    return counted
  }

  async #pass(key: FailureKey, isCounted: boolean): Promise<CountedAttempt> {
    if (isCounted) return this.#attempts.begin(key)
    return { count: 0, waitSeconds: await this.#attempts.waitSeconds(key), firstRefusal: false }
  }

  async #takeBack(keys: readonly FailureKey[]): Promise<void> {
    await Promise.all(keys.map((key) => this.#attempts.takeBack(key)))
  }

  /** Once for each wait, or the trail would grow as fast as somebody can knock. */
  #noteBlocked(
    { site, pool, email, origin }: AttemptContext,
    counted: CounterKind,
    waitSeconds: number,
  ): Promise<void> {
    return this.#events.note(site.siteId, {
      event: 'sign-in.blocked',
      pool: pool.kind,
      email: canonicalEmail(email),
      origin,
      detail: { counted, waitSeconds },
    })
  }
}

/** Where mail to an address is read: what follows a plus is its owner's own mark, or a stranger's who wants to flood it. */
const mailboxOf = (email: string): string => email.replace(/\+[^@]*(?=@)/, '')

const accountFromNetwork = (kind: 'account' | 'code' | 'mail', at: AttemptContext): FailureKey => ({
  ...accountFromAnywhere(kind, at),
  subject: `${subjectOf(at)} ${networkOf(at.origin.address)}`,
})

const accountFromAnywhere = (kind: CounterKind, at: AttemptContext): FailureKey => ({
  siteId: at.site.siteId,
  kind,
  subject: subjectOf(at),
})

const subjectOf = ({ pool, email }: AttemptContext): string =>
  `${pool.userPoolId} ${canonicalEmail(email)}`

/** Over both pools: who guesses in one guesses in the other. */
const networkKey = (
  kind: 'address' | 'mail-address',
  { site, origin }: AttemptContext,
): FailureKey => ({
  siteId: site.siteId,
  kind,
  subject: networkOf(origin.address),
})

const tooManyAttempts = (waitSeconds: number): AppError =>
  new AppError('TooManyRequests', `Too many tries: try again in ${durationText(waitSeconds)}`, {
    retryAfterSeconds: waitSeconds,
  })

function durationText(seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute']
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`
}
