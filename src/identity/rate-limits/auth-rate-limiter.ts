import { AppError } from '#base/app-error.ts'
import { ipPrefix } from '#base/ip-prefix.ts'
import { canonicalEmail } from '#identity/email.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'

import type { CountedAttempt, FailureKey, CounterKind, FailureCounter } from './failure-counter.ts'

/** One network's tries at an account that are counted against all networks: patience alone cannot lock its owner out. */
const MAX_COUNTED_FOR_ALL_NETWORKS = 5

/** Whose secret is guessed, and from where. The account need not exist. */
export interface AttemptContext extends PoolRequest {
  readonly email: string
}

/** One that need not say whose secret it guesses. */
type CountedRequest = PoolRequest & Partial<Pick<AttemptContext, 'email'>>

/** A try at a secret that counts as failed until it is said to have succeeded. */
export interface Attempt {
  succeeded(): Promise<void>
  /** It was never made: something of ours failed. */
  withdrawn(): Promise<void>
}

/** The gate before every guess at a password or mailed code, and before every mail that a client requests. */
export class AuthRateLimiter {
  readonly #attempts: FailureCounter
  readonly #events: SecurityEvents

  constructor(deps: { attempts: FailureCounter; events: SecurityEvents }) {
    this.#attempts = deps.attempts
    this.#events = deps.events
  }

  /** 429 while the account or the address has to wait; then nothing may be worked out for the caller. */
  async begin(secret: 'account' | 'code', at: AttemptContext): Promise<Attempt> {
    const keys = browserKeys(secret, at) ?? [
      ...accountFromNetworks(secret, at),
      accountFromAnywhere(`${secret}-anywhere`, at),
      ...networkKeys('address', at),
    ]
    const counted = await this.#admit(keys, at, await this.#isKnown(at))
    const [here] = keys
    return {
      // Resets the failures of this network only: others may go on guessing while the owner signs in.
      succeeded: async () => {
        await this.#takeBack(counted.filter((key) => key !== here))
        if (here) await this.#attempts.clear(here)
        await this.#attempts.add(knownNetwork(at))
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

  /** The same for a secret that says itself whose it is: what is counted is where it comes from. */
  async attemptUnnamed<T>(
    request: PoolRequest,
    guess: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const counted = await this.#admit(networkKeys('address', request), request, false)
    try {
      const outcome = await guess()
      if (outcome !== undefined) await this.#takeBack(counted)
      return outcome
    } catch (error) {
      await this.#takeBack(counted)
      throw error
    }
  }

  /** Counts a mail that is about to be asked for; 429 when that were too many. */
  async beginMail(at: AttemptContext): Promise<void> {
    const mailbox = { ...at, email: mailboxOf(at.email) }
    const keys = browserKeys('mail', at) ?? [
      ...accountFromNetworks('mail', at),
      accountFromAnywhere('mail-anywhere', mailbox),
      ...networkKeys('mail-address', at),
    ]
    await this.#admit(keys, at, await this.#isKnown(at))
  }

  /** For an account whose owner has proven to be there in another way. */
  async reset(at: AttemptContext): Promise<void> {
    await Promise.all([
      ...accountFromNetworks('account', at).map((key) => this.#attempts.clear(key)),
      this.#attempts.clear(accountFromAnywhere('account-anywhere', at)),
      this.#attempts.add(knownNetwork(at)),
    ])
  }

  /**
   * One gate after the other, the narrowest first: a client that it refuses must not count at the next ones, which limit others
   * too. A network from which the account was signed in to passes the gates of all networks together, and that of the network
   * over all accounts: guesses at other accounts do not delay a colleague. All are looked at in any case, or the time would tell.
   * Gives those that have counted.
   */
  async #admit(
    keys: readonly FailureKey[],
    at: CountedRequest,
    isKnown: boolean,
  ): Promise<readonly FailureKey[]> {
    const counted: FailureKey[] = []
    const ofAccount = keys[0]?.kind
    let countHere = 0
    for (const key of keys) {
      const isFelt = isCounted(key.kind, { countHere, isKnown })
      const { count, waitSeconds, firstRefusal } = await this.#pass(key, isFelt)
      const isAdmitted = waitSeconds === 0
      if (!isAdmitted && !(isKnown && isOfStrangers(key.kind))) {
        await this.#takeBack(counted)
        await this.#noteBlocked(at, key.kind, { waitSeconds, firstRefusal })
        throw tooManyAttempts(waitSeconds)
      }
      // Of the account from the widest network so far.
      countHere = Math.max(countHere, key.kind === ofAccount ? count : 0)
      if (isFelt && isAdmitted) counted.push(key)
    }
    return counted
  }

  #isKnown(at: AttemptContext): Promise<boolean> {
    return this.#attempts.has(knownNetwork(at))
  }

  async #pass(key: FailureKey, isCounted: boolean): Promise<CountedAttempt> {
    if (isCounted) return this.#attempts.begin(key)
    return { count: 0, waitSeconds: await this.#attempts.waitSeconds(key), firstRefusal: false }
  }

  async #takeBack(keys: readonly FailureKey[]): Promise<void> {
    await Promise.all(keys.map((key) => this.#attempts.takeBack(key)))
  }

  /** Logs once per block, to bound the audit trail. */
  async #noteBlocked(
    { site, pool, email, origin }: CountedRequest,
    counted: CounterKind,
    { waitSeconds, firstRefusal }: Omit<CountedAttempt, 'count'>,
  ): Promise<void> {
    if (!firstRefusal) return
    await this.#events.note(site.siteId, {
      event: 'sign-in.blocked',
      pool: pool.kind,
      ...(email !== undefined && { email: canonicalEmail(email) }),
      origin,
      detail: { counted, waitSeconds },
    })
  }
}

/** Whether it is of all networks together. */
const isOfAll = (kind: CounterKind): boolean => kind.endsWith('-anywhere')

/** Whether it also counts what strangers do elsewhere, or at other accounts. */
const isOfStrangers = (kind: CounterKind): boolean => kind === 'address' || isOfAll(kind)

const isCounted = (
  kind: CounterKind,
  { countHere, isKnown }: { readonly countHere: number; readonly isKnown: boolean },
): boolean => !isOfAll(kind) || (countHere <= MAX_COUNTED_FOR_ALL_NETWORKS && !isKnown)

/** Where mail to an address is read: what follows a plus is its owner's own mark, or a stranger's who wants to flood it. */
const mailboxOf = (email: string): string => email.replace(/\+[^@]*(?=@)/, '')

/** The networks of a client, from its own to that of a whole house or business, which has more tries. */
const networksOf = (
  address: string,
): readonly { readonly name: string; readonly share: number }[] =>
  ([64, 56, 48] as const)
    .map((bits, at) => ({ name: ipPrefix(address, bits), share: at + 1 }))
    // An IPv4 address stands for all of them.
    .filter(({ name }, at, all) => all.findIndex((each) => each.name === name) === at)

const accountFromNetworks = (
  kind: 'account' | 'code' | 'mail',
  at: AttemptContext,
): readonly FailureKey[] =>
  networksOf(at.origin.address).map(({ name, share }) => ({
    ...accountFromAnywhere(kind, at),
    subject: `${subjectOf(at)} ${name}`,
    share,
  }))

/** The one gate of a browser in which the account has signed in before, which strangers cannot shut. */
function browserKeys(
  secret: 'account' | 'code' | 'mail',
  at: AttemptContext,
): readonly FailureKey[] | undefined {
  const known = at.browser?.knownAs(at.email)
  if (known === undefined) return undefined
  const key = accountFromAnywhere(`${secret}-browser`, at)
  return [{ ...key, subject: `${key.subject} ${known}` }]
}

const knownNetwork = (at: AttemptContext): FailureKey => ({
  ...accountFromAnywhere('known-network', at),
  subject: `${subjectOf(at)} ${ipPrefix(at.origin.address, 48)}`,
})

const accountFromAnywhere = (kind: CounterKind, at: AttemptContext): FailureKey => ({
  siteId: at.site.siteId,
  kind,
  subject: subjectOf(at),
})

const subjectOf = ({ pool, email }: AttemptContext): string =>
  `${pool.userPoolId} ${canonicalEmail(email)}`

/** Over both pools: who guesses in one guesses in the other. */
const networkKeys = (
  kind: 'address' | 'mail-address',
  { site, origin }: PoolRequest,
): readonly FailureKey[] =>
  networksOf(origin.address).map(({ name, share }) => ({
    siteId: site.siteId,
    kind,
    subject: name,
    share,
  }))

const tooManyAttempts = (waitSeconds: number): AppError =>
  new AppError('TooManyRequests', `Too many tries: try again in ${durationText(waitSeconds)}`, {
    retryAfterSeconds: waitSeconds,
  })

function durationText(seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute']
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`
}
