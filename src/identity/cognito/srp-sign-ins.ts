import { randomBytes } from 'node:crypto'

import type { Clock } from '#base/clock.ts'
import { lookupEmail } from '#identity/accounts/account-email.ts'
import { wrongCredentials } from '#identity/accounts/refusals.ts'
import type { Tries } from '#identity/defence/tries.ts'
import type { Passwords } from '#identity/passwords/service.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import { sweepExpired } from '#platform/postgres/sweep.ts'
import type { Sealer, WrappedSiteKey } from '#platform/seal/sealer.ts'

import type { Challenge, Challenger, Challenges } from './challenges.ts'
import { type SrpAccount, insertUsedChallenge, selectSrpAccount } from './queries.ts'
import { openExchange, poolNameOf, proves, sessionKeyOf } from './srp/exchange.ts'
import { GROUP_BYTES, numberOf } from './srp/group.ts'
import type { Powers } from './srp/powers.ts'
import { timestampOf } from './srp/timestamp.ts'
import type { AddressVerifiers } from './srp/verifiers.ts'

/** Cognito's: a client whose clock is further off is refused. */
const MAX_SKEW_MS = 5 * 60_000

export interface SrpChallenge {
  readonly salt: Buffer
  readonly serverPublic: bigint
  readonly secretBlock: Buffer
}

export interface SrpAnswer {
  /** Who asks, in the canonical spelling; it may be no address at all. */
  readonly email: string
  readonly origin: RequestOrigin
  readonly secretBlock: Buffer
  readonly timestamp: string
  readonly signature: string
}

interface Known {
  readonly account: SrpAccount | undefined
  /** The decoy's when there is no account, or its password has no verifier. */
  readonly verifier: bigint
  readonly real: boolean
}

/**
 * Sign-in without sending the password: two requests, the same work and the same words whether the account exists or not.
 * A challenge is made for one password, so that of a sign-up has no part here: it would take the account's place.
 */
export class SrpSignIns {
  readonly #database: Database
  readonly #passwords: Passwords
  readonly #tries: Tries
  readonly #events: SecurityEvents
  readonly #clock: Clock
  readonly #powers: Powers
  readonly #verifiers: AddressVerifiers
  readonly #challenges: Challenges
  readonly #unseal: () => void

  constructor(deps: {
    database: Database
    passwords: Passwords
    tries: Tries
    events: SecurityEvents
    clock: Clock
    sealer: Sealer
    powers: Powers
    verifiers: AddressVerifiers
    challenges: Challenges
  }) {
    this.#database = deps.database
    this.#passwords = deps.passwords
    this.#tries = deps.tries
    this.#events = deps.events
    this.#clock = deps.clock
    this.#powers = deps.powers
    this.#verifiers = deps.verifiers
    this.#challenges = deps.challenges
    this.#unseal = unsealNothing(deps.sealer)
  }

  async begin(by: Challenger, email: string, clientPublic: bigint): Promise<SrpChallenge> {
    const { verifier } = await this.#database.withSite(by.site.siteId, (tx) =>
      this.#known(tx, by, email),
    )
    const exchange = await openExchange(this.#powers, clientPublic, verifier)
    return {
      salt: this.#verifiers.saltOf(by.pool.userPoolId, email),
      serverPublic: exchange.serverPublic,
      secretBlock: this.#challenges.seal(by, email, exchange),
    }
  }

  /** 401 `InvalidCredentials` for everything that does not prove the password, 429 `TooManyRequests`. */
  async finish(by: Challenger, answer: SrpAnswer): Promise<{ readonly sub: string }> {
    const challenge = this.#challenges.open(by, answer.secretBlock)
    if (challenge?.email !== answer.email || !this.#isTimely(answer)) throw wrongCredentials()
    const { origin } = answer
    const at = { pool: by.pool, email: lookupEmail(answer.email), origin }
    const proven = await this.#tries.make(by.site, 'account', at, () =>
      this.#proven(by, challenge, answer),
    )
    if (!proven) throw wrongCredentials()
    return { sub: proven.sub }
  }

  async #proven(
    by: Challenger,
    challenge: Challenge,
    answer: SrpAnswer,
  ): Promise<SrpAccount | undefined> {
    const known = await this.#use(by, challenge, answer.email)
    if (!known) return undefined
    const right = await this.#isRight(by, challenge, { answer, verifier: known.verifier })
    if (right && known.real) return known.account
    await this.#noteFailure(by, answer, known.account)
    return undefined
  }

  #isTimely({ timestamp }: SrpAnswer): boolean {
    const said = timestampOf(timestamp)?.getTime()
    return said !== undefined && Math.abs(said - this.#clock.now().getTime()) <= MAX_SKEW_MS
  }

  /** Undefined when the challenge has been answered: right or wrong, each takes one answer. */
  #use(by: Challenger, challenge: Challenge, email: string): Promise<Known | undefined> {
    return this.#database.withSite(by.site.siteId, async (tx) => {
      await sweepExpired(tx, 'used_srp_challenge', this.#clock.now())
      if (!(await insertUsedChallenge(tx, challenge))) return undefined
      return this.#known(tx, by, email)
    })
  }

  async #isRight(
    { pool }: Challenger,
    challenge: Challenge,
    { answer, verifier }: { readonly answer: SrpAnswer; readonly verifier: bigint },
  ): Promise<boolean> {
    const key = await sessionKeyOf(this.#powers, challenge, verifier)
    const { email, secretBlock, timestamp, signature } = answer
    const claim = { poolName: poolNameOf(pool.userPoolId), userId: email, secretBlock, timestamp }
    return key !== undefined && proves(key, claim, signature)
  }

  async #known(tx: SiteTx, { pool }: Challenger, email: string): Promise<Known> {
    const account = await selectSrpAccount(tx, pool.userPoolId, lookupEmail(email))
    const decoy = this.#verifiers.decoyOf(pool.userPoolId, email)
    if (!account?.sealedSrp) {
      this.#unseal()
      return { account, verifier: decoy, real: false }
    }
    const srp = await this.#passwords.openedSrp(tx, pool, account.sub, account.sealedSrp)
    const real = this.#verifiers.fits(srp, pool.userPoolId, email)
    return { account, verifier: real ? numberOf(srp.verifier) : decoy, real }
  }

  #noteFailure(
    { site, pool, clientId }: Challenger,
    { email, origin }: SrpAnswer,
    account: SrpAccount | undefined,
  ): Promise<void> {
    return this.#events.note(site.siteId, {
      event: 'sign-in.failed',
      pool: pool.kind,
      sub: account?.sub,
      email: lookupEmail(email),
      clientId,
      origin,
      detail: { method: 'srp' },
    })
  }
}

/** Opening a verifier takes some microseconds; an account that has none takes them too. */
function unsealNothing(sealer: Sealer): () => void {
  const siteKey: WrappedSiteKey = { siteId: 'decoy', wrappedKey: sealer.newSiteKey('decoy') }
  const sealed = sealer.seal(siteKey, 'srp-decoy', randomBytes(GROUP_BYTES + 17))
  return () => {
    sealer.open(siteKey, 'srp-decoy', sealed)
  }
}
