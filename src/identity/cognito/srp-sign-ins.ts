import { randomBytes } from 'node:crypto'

import type { Clock } from '#base/clock.ts'
import { lookupEmail } from '#identity/accounts/account-email.ts'
import { wrongCredentials } from '#identity/accounts/refusals.ts'
import { networkOf } from '#identity/defence/network-of.ts'
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

/** Who asks, in the canonical spelling; it may be no address at all. */
export interface SrpAsker {
  readonly email: string
  readonly origin: RequestOrigin
}

export interface SrpAnswer extends SrpAsker {
  readonly secretBlock: Buffer
  readonly timestamp: string
  readonly signature: string
}

/** Whom an answer proved to be there: an account, or somebody whose address is not proven yet. */
export type SrpProven = Pick<SrpAccount, 'kind' | 'sub'>

interface Known {
  readonly account: SrpAccount | undefined
  /** The decoy's when there is no account, or its password has no verifier. */
  readonly verifier: bigint
  readonly real: boolean
}

/** Sign-in without sending the password: two requests, the same work and the same words whether the account exists or not. */
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

  async begin(by: Challenger, asker: SrpAsker, clientPublic: bigint): Promise<SrpChallenge> {
    const { email } = asker
    const { verifier } = await this.#database.withSite(by.site.siteId, (tx) =>
      this.#known(tx, by, asker),
    )
    const exchange = await openExchange(this.#powers, clientPublic, verifier)
    return {
      salt: this.#verifiers.saltOf(by.pool.userPoolId, email),
      serverPublic: exchange.serverPublic,
      secretBlock: this.#challenges.seal(by, email, exchange),
    }
  }

  /** 401 `InvalidCredentials` for everything that does not prove the password, 429 `TooManyRequests`. */
  async finish(by: Challenger, answer: SrpAnswer): Promise<SrpProven> {
    const challenge = this.#challenges.open(by, answer.secretBlock)
    if (challenge?.email !== answer.email || !this.#isTimely(answer)) throw wrongCredentials()
    const { origin } = answer
    const email = lookupEmail(answer.email)
    const attempt = await this.#tries.begin(by.site, 'account', { pool: by.pool, email, origin })
    const known = await this.#use(by, challenge, answer)
    if (!known) throw wrongCredentials()
    const right = await this.#isRight(by, challenge, { answer, verifier: known.verifier })
    const proven = right && known.real ? known.account : undefined
    if (!proven) {
      await this.#noteFailure(by, { email, origin }, known.account)
      throw wrongCredentials()
    }
    await attempt.succeeded()
    return { kind: proven.kind, sub: proven.sub }
  }

  #isTimely({ timestamp }: SrpAnswer): boolean {
    const said = timestampOf(timestamp)?.getTime()
    return said !== undefined && Math.abs(said - this.#clock.now().getTime()) <= MAX_SKEW_MS
  }

  /** Undefined when the challenge has been answered: right or wrong, each takes one answer. */
  #use(by: Challenger, challenge: Challenge, asker: SrpAsker): Promise<Known | undefined> {
    return this.#database.withSite(by.site.siteId, async (tx) => {
      await sweepExpired(tx, 'used_srp_challenge', this.#clock.now())
      if (!(await insertUsedChallenge(tx, challenge))) return undefined
      return this.#known(tx, by, asker)
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

  async #known(tx: SiteTx, { pool }: Challenger, { email, origin }: SrpAsker): Promise<Known> {
    const place = {
      userPoolId: pool.userPoolId,
      email: lookupEmail(email),
      network: networkOf(origin.address),
    }
    const account = await selectSrpAccount(tx, place, this.#clock.now())
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
    { email, origin }: SrpAsker,
    account: SrpAccount | undefined,
  ): Promise<void> {
    return this.#events.note(site.siteId, {
      event: 'sign-in.failed',
      pool: pool.kind,
      sub: account?.kind === 'account' ? account.sub : undefined,
      email,
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
