import { AppError } from '#base/app-error.ts'
import { networkOf } from '#base/network-of.ts'
import { canonicalEmail } from '#identity/email.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { Site } from '#sites/site.ts'

import type { Admission, AttemptKey, AttemptKind, Attempts } from './attempts.ts'

/** One network's tries at an account that are counted against all networks: with patience alone nobody shuts its owner out. */
const FELT_ELSEWHERE = 5

/** Whose secret is guessed, and from where. The account need not exist. */
export interface TryAt {
  readonly pool: Pool
  readonly email: string
  readonly origin: RequestOrigin
}

/** A try at a secret that counts as failed until it is said to have succeeded. */
export interface Try {
  succeeded(): Promise<void>
  /** It was never made: something of ours failed. */
  withdrawn(): Promise<void>
}

/** The gate before every guess at a password or mailed code, and before every mail that somebody asks for. */
export class Tries {
  readonly #attempts: Attempts
  readonly #events: SecurityEvents

  constructor(deps: { attempts: Attempts; events: SecurityEvents }) {
    this.#attempts = deps.attempts
    this.#events = deps.events
  }

  /** 429 while the account or the address has to wait; then nothing may be worked out for the caller. */
  async begin(site: Site, secret: 'account' | 'code', at: TryAt): Promise<Try> {
    const here = accountHere(site, secret, at)
    const others = [accountAnywhere(site, `${secret}-anywhere`, at), network(site, 'address', at)]
    const counted = await this.#admit(site, [here, ...others], at)
    return {
      // Only what failed here is forgiven: others may go on guessing while the owner comes and goes.
      succeeded: async () => {
        await this.#takeBack(counted.filter((key) => key !== here))
        await this.#attempts.succeeded(here)
      },
      withdrawn: () => this.#takeBack(counted),
    }
  }

  /** Begins a try and makes it; `guess` gives undefined when the secret was wrong. */
  async make<T>(
    site: Site,
    secret: 'account' | 'code',
    at: TryAt,
    guess: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const attempt = await this.begin(site, secret, at)
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
  async beginMail(site: Site, at: TryAt): Promise<void> {
    const keys = [
      accountHere(site, 'mail', at),
      accountAnywhere(site, 'mail-anywhere', { ...at, email: mailboxOf(at.email) }),
      network(site, 'mail-address', at),
    ]
    await this.#admit(site, keys, at)
  }

  /** For an account whose owner has proven to be there in another way. */
  async forgive(site: Site, at: TryAt): Promise<void> {
    await Promise.all([
      this.#attempts.succeeded(accountHere(site, 'account', at)),
      this.#attempts.succeeded(accountAnywhere(site, 'account-anywhere', at)),
    ])
  }

  /**
   * One gate after the other, the narrowest first: who is turned away by it must not be felt at the next ones, which stand
   * in front of others too. Gives those that have counted.
   */
  async #admit(site: Site, keys: readonly AttemptKey[], at: TryAt): Promise<readonly AttemptKey[]> {
    const counted: AttemptKey[] = []
    let countHere = 0
    for (const key of keys) {
      const isFelt = countHere <= FELT_ELSEWHERE || !key.kind.endsWith('-anywhere')
      const { count, waitSeconds, first } = await this.#pass(key, isFelt)
      if (waitSeconds > 0) {
        await this.#takeBack(counted)
        if (first) await this.#noteBlocked(site, at, key.kind, waitSeconds)
        throw tooMany(waitSeconds)
      }
      if (counted.length === 0) countHere = count
      if (isFelt) counted.push(key)
    }
    return counted
  }

  async #pass(key: AttemptKey, isCounted: boolean): Promise<Admission> {
    if (isCounted) return this.#attempts.begin(key)
    return { count: 0, waitSeconds: await this.#attempts.waitSeconds(key), first: false }
  }

  async #takeBack(keys: readonly AttemptKey[]): Promise<void> {
    await Promise.all(keys.map((key) => this.#attempts.undo(key)))
  }

  /** Once for each wait, or the trail would grow as fast as somebody can knock. */
  #noteBlocked(
    site: Site,
    { pool, email, origin }: TryAt,
    counted: AttemptKind,
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

const accountHere = (site: Site, kind: 'account' | 'code' | 'mail', at: TryAt): AttemptKey => ({
  ...accountAnywhere(site, kind, at),
  subject: `${subjectOf(at)} ${networkOf(at.origin.address)}`,
})

const accountAnywhere = ({ siteId }: Site, kind: AttemptKind, at: TryAt): AttemptKey => ({
  siteId,
  kind,
  subject: subjectOf(at),
})

const subjectOf = ({ pool, email }: TryAt): string => `${pool.userPoolId} ${canonicalEmail(email)}`

/** Over both pools: who guesses in one guesses in the other. */
const network = ({ siteId }: Site, kind: 'address' | 'mail-address', { origin }: TryAt) => ({
  siteId,
  kind,
  subject: networkOf(origin.address),
})

const tooMany = (waitSeconds: number): AppError =>
  new AppError('TooManyRequests', `Too many tries: try again in ${inWords(waitSeconds)}`, {
    retryAfterSeconds: waitSeconds,
  })

function inWords(seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute']
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`
}
