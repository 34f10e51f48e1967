import { collectErrors } from '#base/collect-errors.ts'
import { ipPrefix } from '#base/ip-prefix.ts'
import { VERIFICATION_LIFETIME_MS } from '#identity/mailed-codes.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import { storableName } from '#identity/self-service/name.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'

import type { AccountServiceDeps } from './account-deps.ts'
import { lookupEmail, newEmail } from './account-email.ts'
import { candidateSignUps, mostLikelySignUp } from './candidate-sign-ups.ts'
import { signUpDisabled, wrongCode } from './errors.ts'
import type { CodeResendRequest, NewAccount, SignUpConfirmation, SignUpReceipt } from './model.ts'
import {
  type PendingSignUp,
  countSignUpAttempt,
  deleteSignUp,
  insertSignUp,
  lockSignUps,
  selectSignUps,
} from './sign-up-queries.ts'

/** A confirmation with everything that decides about it. */
interface PreparedConfirmation extends PoolRequest {
  readonly email: string
  readonly code: string
  readonly registrationId: string | undefined
}

/** Accounts in the making: several may wait for one address, each with its own password and code, and none holds it. */
export class SignUps {
  readonly #deps: AccountServiceDeps

  constructor(deps: AccountServiceDeps) {
    this.#deps = deps
  }

  /** 403 `SignUpDisabled`, 400 `InvalidPassword`, 429; the same answer when the address has an account. */
  async signUp(
    request: PoolRequest,
    { email: typed, password, name: typedName = '' }: NewAccount,
  ): Promise<SignUpReceipt> {
    const { site, pool, origin } = request
    const { database, clock, ids, passwords, rateLimiter } = this.#deps
    if (!pool.settings.selfSignUp) throw signUpDisabled()
    const [email, , name] = await collectErrors(
      () => newEmail(typed),
      () => passwords.check(pool, { email: lookupEmail(typed), password }),
      () => storableName(typedName),
    )
    await rateLimiter.beginMail({ ...request, email })
    const [registrationId, sub] = [ids.named('reg'), ids.uuid()]
    const { address } = origin
    const prepared = await passwords.hash(pool, { sub, email, password, address })
    const createdAt = clock.now()
    await database.withSite(site.siteId, async (tx) => {
      await insertSignUp(tx, {
        ...(await passwords.seal(tx, pool, sub, prepared)),
        userPoolId: pool.userPoolId,
        registrationId,
        sub,
        email,
        network: ipPrefix(address),
        name,
        createdAt,
        expiresAt: new Date(createdAt.getTime() + VERIFICATION_LIFETIME_MS),
      })
      await deleteExpired(tx, 'pending_sign_up', createdAt)
      await this.#ask(tx, request, { ask: 'sign-up', email, registrationId })
      await this.#deps.events.record(tx, {
        event: 'sign-up.requested',
        pool: pool.kind,
        email,
        origin,
      })
    })
    return { registrationId, sub, email }
  }

  /** 400 `InvalidVerificationCode`, 429. */
  async confirm(
    request: PoolRequest,
    confirmation: SignUpConfirmation,
  ): Promise<{ readonly sub: string }> {
    if (!request.pool.settings.selfSignUp) throw signUpDisabled()
    const email = lookupEmail(confirmation.email)
    const { database, rateLimiter } = this.#deps
    const sub = await rateLimiter.attempt('code', { ...request, email }, async () => {
      const registrationId = await this.#chosen(request, { ...confirmation, email })
      const confirming = { ...request, email, code: confirmation.code, registrationId }
      return database.withSite(request.site.siteId, (tx) => this.#confirm(tx, confirming))
    })
    if (sub === undefined) throw wrongCode()
    return { sub }
  }

  /** Mails the sign-up a new code and revokes the old one; in a worker, so that the response time reveals nothing. 429. */
  async resend(request: PoolRequest, resend: CodeResendRequest): Promise<void> {
    const { site, pool, origin } = request
    if (!pool.settings.selfSignUp) throw signUpDisabled()
    const { database, clock, rateLimiter } = this.#deps
    const email = lookupEmail(resend.email)
    await rateLimiter.beginMail({ ...request, email })
    const place = { userPoolId: pool.userPoolId, email }
    await database.withSite(site.siteId, async (tx) => {
      const waiting = await selectSignUps(tx, place, clock.now())
      const likeliest = mostLikelySignUp(waiting, ipPrefix(origin.address))
      const registrationId = resend.registrationId ?? likeliest?.registrationId
      await this.#ask(tx, request, { ask: 'resend', email, registrationId })
    })
  }

  /** The sign-up with its password and its code. The same work when there is none. */
  async #chosen(
    { site, pool, origin }: PoolRequest,
    { email, registrationId, password, code }: SignUpConfirmation,
  ): Promise<string | undefined> {
    if (registrationId !== undefined || password === undefined) return registrationId
    const { database, clock, passwords } = this.#deps
    const waiting = await database.withSite(site.siteId, (tx) =>
      selectSignUps(tx, { userPoolId: pool.userPoolId, email }, clock.now()),
    )
    const coded = waiting.find((each) => this.#matches(site.siteId, pool, each, code))
    const right = await passwords.verify(coded?.hash, password, origin.address)
    return right && coded ? coded.registrationId : 'none'
  }

  /** Undefined when it is refused; the attempt counts in either case. */
  async #confirm(tx: SiteTx, confirming: PreparedConfirmation): Promise<string | undefined> {
    const { pool, email, code, registrationId, origin } = confirming
    const { clock, users, passwords, events } = this.#deps
    const place = { userPoolId: pool.userPoolId, email }
    const waiting = await lockSignUps(tx, place, clock.now())
    const candidates = candidateSignUps(waiting, {
      registrationId,
      network: ipPrefix(origin.address),
    })
    await countSignUpAttempt(
      tx,
      pool.userPoolId,
      candidates.map((each) => each.registrationId),
    )
    const signUp = candidates.find((each) => this.#matches(tx.siteId, pool, each, code))
    const user =
      signUp && (await users.addSignedUp(tx, { ...place, sub: signUp.sub, name: signUp.name }))
    if (!signUp || !user) {
      await events.record(tx, { event: 'code.failed', pool: pool.kind, email, origin })
      return undefined
    }
    const { sub, hash, sealedSrp } = signUp
    await passwords.storeSealed(tx, pool, sub, { hash, sealedSrp })
    // The others stay until they expire, and cannot be confirmed: removing them would reveal the account to their maker.
    await deleteSignUp(tx, pool.userPoolId, signUp.registrationId)
    await events.record(tx, { event: 'sign-up.confirmed', pool: pool.kind, sub, email, origin })
    return sub
  }

  #matches(siteId: string, pool: Pool, signUp: PendingSignUp, code: string): boolean {
    const { userPoolId } = pool
    const scope = { siteId, userPoolId, purpose: 'sign-up', id: signUp.registrationId } as const
    return this.#deps.codes.matches(signUp.codeHash, scope, code)
  }

  #ask(
    tx: SiteTx,
    { pool, origin }: PoolRequest,
    ask: { ask: 'sign-up' | 'resend'; email: string; registrationId: string | undefined },
  ): Promise<void> {
    return this.#deps.queue.enqueue(tx, 'account-mail', {
      siteId: tx.siteId,
      userPoolId: pool.userPoolId,
      language: origin.language,
      ask: ask.ask,
      email: ask.email,
      requestId: this.#deps.ids.uuid(),
      ...(ask.registrationId === undefined ? {} : { registrationId: ask.registrationId }),
    })
  }
}
