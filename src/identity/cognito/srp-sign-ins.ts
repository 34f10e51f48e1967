import { randomBytes } from 'node:crypto'

import { lookupEmail } from '#identity/accounts/account-email.ts'
import { wrongCredentials } from '#identity/accounts/errors.ts'
import { openExchange, poolNameOf, proves, sessionKeyOf } from '#identity/cognito/srp/exchange.ts'
import { numberOf, GROUP_BYTES } from '#identity/cognito/srp/group.ts'
import type { ModularPowers, NetworkPowers } from '#identity/cognito/srp/modular-powers.ts'
import { timestampOf } from '#identity/cognito/srp/timestamp.ts'
import type { AddressVerifiers } from '#identity/cognito/srp/verifiers.ts'
import type { Passwords } from '#identity/passwords/passwords.ts'
import type { SrpVerifier } from '#identity/passwords/srp-verifiers.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { AuthRateLimiter } from '#identity/rate-limits/auth-rate-limiter.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import { UsedChallenges } from '#identity/used-challenges/used-challenges.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Sealer, WrappedSiteKey } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { Challenge, Challenges } from './challenges.ts'
import { selectSrpAccount } from './queries.ts'

/** As at Cognito, a client whose clock is further off is refused. */
const MAX_SKEW_MS = 5 * 60_000

const CONTEXT = 'srp-nobody'
const SALT_BYTES = 16

/** A request of one client of the pool. */
interface SrpRequest extends PoolRequest {
  readonly clientId: string
}

export interface SrpChallenge {
  readonly salt: Buffer
  readonly serverPublic: bigint
  readonly secretBlock: Buffer
}

export interface SrpAnswer {
  /** The user name in the canonical spelling; it may be no address at all. */
  readonly email: string
  readonly secretBlock: Buffer
  readonly timestamp: string
  readonly signature: string
}

interface SrpCandidate {
  /** Null when no account has the address. */
  readonly sub: string | null
  /** The decoy's when there is no account, or its password has no verifier. */
  readonly verifier: bigint
  readonly real: boolean
}

/**
 * Sign-in without sending the password, in two requests. Work and errors are the same whether the account exists or not.
 * A challenge is for one password, so unconfirmed sign-ups cannot use it: theirs would take the account's place.
 */
export class SrpSignIns {
  readonly #deps
  readonly #nobody: SrpDecoyAccount
  readonly #used: UsedChallenges

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly passwords: Passwords
      readonly rateLimiter: AuthRateLimiter
      readonly events: SecurityEvents
      readonly sealer: Sealer
      readonly powers: ModularPowers
      readonly verifiers: AddressVerifiers
      readonly challenges: Challenges
    },
  ) {
    this.#deps = deps
    this.#used = new UsedChallenges(deps, 'used_srp_challenge')
    this.#nobody = new SrpDecoyAccount(deps)
  }

  async begin(by: SrpRequest, email: string, clientPublic: bigint): Promise<SrpChallenge> {
    const { verifier } = await this.#deps.database.withSite(by.site.siteId, (tx) =>
      this.#candidate(tx, by, email),
    )
    const exchange = await openExchange(this.#powersOf(by), clientPublic, verifier)
    return {
      salt: this.#deps.verifiers.saltOf(by.pool.userPoolId, email),
      serverPublic: exchange.serverPublic,
      secretBlock: this.#deps.challenges.seal(by, email, exchange),
    }
  }

  /** 401 `InvalidCredentials` for everything that does not prove the password, 429 `TooManyRequests`. */
  async finish(by: SrpRequest, answer: SrpAnswer): Promise<{ readonly sub: string }> {
    const challenge = this.#deps.challenges.open(by, answer.secretBlock)
    if (challenge?.email !== answer.email || !this.#isTimely(answer)) throw wrongCredentials()
    const at = { ...by, email: lookupEmail(answer.email) }
    const proven = await this.#deps.rateLimiter.attempt('account', at, () =>
      this.#proven(by, challenge, answer),
    )
    if (proven === undefined) throw wrongCredentials()
    return { sub: proven }
  }

  async #proven(
    by: SrpRequest,
    challenge: Challenge,
    answer: SrpAnswer,
  ): Promise<string | undefined> {
    const candidate = await this.#use(by, challenge, answer.email)
    if (!candidate) return undefined
    const { sub, verifier, real } = candidate
    const right = await this.#isRight(by, challenge, { answer, verifier })
    if (right && real && sub !== null) return sub
    await this.#noteFailure(by, answer, sub)
    return undefined
  }

  #isTimely({ timestamp }: SrpAnswer): boolean {
    const said = timestampOf(timestamp)?.getTime()
    return said !== undefined && Math.abs(said - this.#deps.clock.now().getTime()) <= MAX_SKEW_MS
  }

  /** Undefined when the challenge has been answered before, rightly or wrongly. */
  #use(by: SrpRequest, challenge: Challenge, email: string): Promise<SrpCandidate | undefined> {
    const { challengeId: id, expiresAt } = challenge
    return this.#deps.database.withSite(by.site.siteId, async (tx) => {
      if (!(await this.#used.use(tx, { id, expiresAt }))) return undefined
      return this.#candidate(tx, by, email)
    })
  }

  async #isRight(
    by: SrpRequest,
    challenge: Challenge,
    { answer, verifier }: { readonly answer: SrpAnswer; readonly verifier: bigint },
  ): Promise<boolean> {
    const key = await sessionKeyOf(this.#powersOf(by), challenge, verifier)
    const { email, secretBlock, timestamp, signature } = answer
    const claim = {
      poolName: poolNameOf(by.pool.userPoolId),
      userId: email,
      secretBlock,
      timestamp,
    }
    return key !== undefined && proves(key, claim, signature)
  }

  #powersOf({ origin }: SrpRequest): NetworkPowers {
    return this.#deps.powers.from(origin.address)
  }

  /** Does the same work for each address: a decoy is read, opened and compared when there is no account. */
  async #candidate(tx: SiteTx, { pool }: SrpRequest, typed: string): Promise<SrpCandidate> {
    const email = lookupEmail(typed)
    const place = { userPoolId: pool.userPoolId, email }
    const { sub, hasSrp, sealedSrp } = await selectSrpAccount(tx, place, this.#nobody)
    const decoy = this.#deps.verifiers.decoyOf(pool.userPoolId, typed)
    const srp = hasSrp
      ? await this.#deps.passwords.openSrp(tx, pool, sub ?? '', sealedSrp)
      : this.#nobody.opened(sealedSrp)
    const fits = this.#deps.verifiers.fits(srp, pool.userPoolId, typed)
    const [stored, real] = [numberOf(srp.verifier), hasSrp && fits]
    return { sub, verifier: real ? stored : decoy, real }
  }

  #noteFailure(
    { site, pool, clientId, origin }: SrpRequest,
    { email }: SrpAnswer,
    sub: string | null,
  ): Promise<void> {
    return this.#deps.events.note(site.siteId, {
      event: 'sign-in.failed',
      pool: pool.kind,
      sub: sub ?? undefined,
      email: lookupEmail(email),
      clientId,
      origin,
      detail: { method: 'srp' },
    })
  }
}

/** Takes the place of an account that is not there: what is read and opened of an account is read and opened of it. */
class SrpDecoyAccount {
  /** No account has this `sub`. */
  readonly sub = 'nobody'
  readonly sealedSrp: Buffer
  readonly #sealer: Sealer
  readonly #key: WrappedSiteKey

  constructor(deps: { readonly sealer: Sealer }) {
    this.#sealer = deps.sealer
    this.#key = { siteId: CONTEXT, wrappedKey: deps.sealer.newSiteKey(CONTEXT) }
    const bytes = randomBytes(1 + SALT_BYTES + GROUP_BYTES)
    this.sealedSrp = deps.sealer.seal(this.#key, CONTEXT, bytes)
  }

  opened(sealedSrp: Buffer): SrpVerifier {
    const bytes = this.#sealer.open(this.#key, CONTEXT, sealedSrp)
    return { salt: bytes.subarray(1, 1 + SALT_BYTES), verifier: bytes.subarray(1 + SALT_BYTES) }
  }
}
