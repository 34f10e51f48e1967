import { type Actor, originOfActor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { AuthEmails } from '#identity/auth-emails/auth-emails.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { AuthRateLimiter } from '#identity/rate-limits/auth-rate-limiter.ts'
import type { SecurityEventName } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { User } from '#identity/users/model.ts'
import type { Users } from '#identity/users/users.ts'
import { t } from '#languages/message.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import {
  type StoredTotp,
  deleteTotp,
  insertTotp,
  selectTotp,
  selectTotpForUpdate,
  updateFailures,
  updateRecoveryCodes,
  updateUsedStep,
} from './queries.ts'
import { newRecoveryCodes, withoutCode } from './recovery-codes.ts'
import { openTexts, sealTexts } from './sealed-texts.ts'
import { totpStep } from './totp.ts'

/**
 * Each attempt has the right password, so known networks and browsers do not count here: an account takes that many wrong codes
 * within the time, wherever they come from.
 */
const MAX_FAILURES = 10
const FAILURES_WITHIN_MS = 3_600_000

/** What an account has beside its password. */
export interface SecondFactorState {
  readonly totp: boolean
  readonly recoveryCodesLeft: number
}

/** With what a second step was taken. */
export type SecondFactor = 'totp' | 'recovery-code'

/** Authenticator apps of accounts, and the recovery codes for users who have lost theirs. */
export class SecondFactors {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly sealer: Sealer
      readonly siteKeys: SiteKeys
      readonly users: Users
      readonly events: SecurityEvents
      readonly authEmails: AuthEmails
      readonly rateLimiter: AuthRateLimiter
    },
  ) {
    this.#deps = deps
  }

  state(site: Site, pool: Pool, sub: string): Promise<SecondFactorState> {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const stored = await selectTotp(tx, { userPoolId: pool.userPoolId, sub })
      return { totp: stored !== undefined, recoveryCodesLeft: stored?.recoveryCodesLeft ?? 0 }
    })
  }

  /**
   * Adds an app whose first code is right, and gives its recovery codes, which cannot be read again. 400
   * `InvalidVerificationCode`, 409 `SecondFactorAlreadySet`, 429.
   */
  async enable(
    request: PoolRequest,
    { sub, secret, code }: { readonly sub: string; readonly secret: string; readonly code: string },
  ): Promise<readonly string[]> {
    const { site, pool, origin } = request
    const { database, clock, events, authEmails } = this.#deps
    const createdAt = clock.now()
    const lastStep = totpStep(secret, code, { now: createdAt, after: 0 })
    if (lastStep === undefined) throw wrongFactor()
    const codes = newRecoveryCodes()
    await database.withSite(site.siteId, async (tx) => {
      const user = { userPoolId: pool.userPoolId, sub }
      const { email, activeEmail } = await this.#active(tx, user)
      const stored = {
        sealedSecret: await sealTexts(this.#deps, tx, user, [secret]),
        sealedRecoveryCodes: await sealTexts(this.#deps, tx, user, codes),
        recoveryCodesLeft: codes.length,
        lastStep,
        createdAt,
      }
      if (!(await insertTotp(tx, user, stored))) throw alreadySet()
      const event = { event: 'second-factor.enabled', pool: pool.kind, sub, email, origin } as const
      await events.record(tx, { ...event, detail: { factor: 'totp' } })
      const mail = { kind: 'second-factor-on', pool: pool.kind, to: activeEmail } as const
      await authEmails.send(tx, site, mail, origin)
    })
    return codes
  }

  /** 400 `InvalidVerificationCode` for a code that is wrong or was used, 429. */
  async verify(
    request: PoolRequest,
    { sub, code }: { readonly sub: string; readonly code: string },
  ): Promise<SecondFactor> {
    const { site, pool } = request
    const user = { userPoolId: pool.userPoolId, sub }
    const { email } = await this.#deps.database.withSite(site.siteId, (tx) =>
      this.#active(tx, user),
    )
    const factor = await this.#deps.rateLimiter.attempt('code', { ...request, email }, () =>
      this.#deps.database.withSite(site.siteId, (tx) => this.#try(tx, request, user, code)),
    )
    if (factor === undefined) throw wrongFactor()
    return factor
  }

  /** Ten new ones; those before are worth nothing any more. 404 without an app. */
  async renewRecoveryCodes(
    { site, pool, origin }: PoolRequest,
    sub: string,
  ): Promise<readonly string[]> {
    const codes = newRecoveryCodes()
    const user = { userPoolId: pool.userPoolId, sub }
    await this.#deps.database.withSite(site.siteId, async (tx) => {
      if (!(await selectTotpForUpdate(tx, user))) throw noFactor()
      await this.#storeCodes(tx, user, codes)
      const { email } = await this.#active(tx, user)
      const event = { event: 'recovery-codes.created', pool: pool.kind, sub, email } as const
      await this.#deps.events.record(tx, { ...event, origin })
    })
    return codes
  }

  /** Removes the app and its recovery codes, also from a disabled account; does nothing when there is none. The caller has checked the authority. */
  async disable(site: Site, pool: Pool, sub: string, by: Actor): Promise<void> {
    const user = { userPoolId: pool.userPoolId, sub }
    await this.#deps.database.withSite(site.siteId, async (tx) => {
      const owner = await this.#deps.users.find(tx, user.userPoolId, sub)
      if (!owner || !(await deleteTotp(tx, user))) return
      const { email, activeEmail } = owner
      const event = { event: 'second-factor.disabled', pool: pool.kind, sub, email } as const
      await this.#deps.events.record(tx, { ...event, by, detail: { factor: 'totp' } })
      const mail = { kind: 'second-factor-off', pool: pool.kind, to: activeEmail } as const
      await this.#deps.authEmails.send(tx, site, mail, originOfActor(by))
    })
  }

  /** Undefined when it is wrong; the attempt counts in either case. */
  async #try(
    tx: SiteTx,
    request: PoolRequest,
    user: UserKey,
    typed: string,
  ): Promise<SecondFactor | undefined> {
    const stored = await selectTotpForUpdate(tx, user)
    if (!stored) return undefined
    const now = this.#deps.clock.now()
    const recent = recentFailures(stored, now)
    if (recent.failures >= MAX_FAILURES) throw tooManyWrongCodes(recent.since, now)
    const factor = await this.#use(tx, user, stored, typed)
    if (factor !== undefined) {
      if (factor === 'recovery-code') await this.#record(tx, request, user, 'recovery-code.used')
      return factor
    }
    const failures = recent.failures + 1
    await updateFailures(tx, user, { failures, failedSince: recent.since })
    await this.#record(tx, request, user, 'second-factor.failed')
    if (failures === MAX_FAILURES) await this.#warn(tx, request, user)
    return undefined
  }

  /** Makes use of the code, when it is one. */
  async #use(
    tx: SiteTx,
    user: UserKey,
    stored: StoredTotp,
    typed: string,
  ): Promise<SecondFactor | undefined> {
    const [secret = ''] = await openTexts(this.#deps, tx, user, stored.sealedSecret)
    const when = { now: this.#deps.clock.now(), after: stored.lastStep }
    const step = totpStep(secret, typed.replaceAll(/\s/g, ''), when)
    if (step !== undefined) {
      await updateUsedStep(tx, user, step)
      return 'totp'
    }
    const codes = await openTexts(this.#deps, tx, user, stored.sealedRecoveryCodes)
    const left = withoutCode(codes, typed)
    if (left === undefined) return undefined
    await this.#storeCodes(tx, user, left)
    return 'recovery-code'
  }

  async #storeCodes(tx: SiteTx, user: UserKey, codes: readonly string[]): Promise<void> {
    const sealedRecoveryCodes = await sealTexts(this.#deps, tx, user, codes)
    await updateRecoveryCodes(tx, user, { sealedRecoveryCodes, recoveryCodesLeft: codes.length })
  }

  async #record(
    tx: SiteTx,
    { pool, origin }: PoolRequest,
    { sub }: UserKey,
    event: SecurityEventName,
  ): Promise<void> {
    await this.#deps.events.record(tx, { event, pool: pool.kind, sub, origin })
  }

  #active(tx: SiteTx, { userPoolId, sub }: UserKey): Promise<User> {
    return this.#deps.users.active(tx, userPoolId, sub)
  }

  /** The sender of these codes knows the password. */
  async #warn(tx: SiteTx, { site, pool, origin }: PoolRequest, user: UserKey): Promise<void> {
    const { activeEmail } = await this.#active(tx, user)
    const mail = { kind: 'second-factor-guessed', pool: pool.kind, to: activeEmail } as const
    await this.#deps.authEmails.send(tx, site, mail, origin)
  }
}

function recentFailures({ failures, failedSince }: StoredTotp, now: Date) {
  const isRecent =
    failedSince !== null && now.getTime() - failedSince.getTime() < FAILURES_WITHIN_MS
  return isRecent ? { failures, since: failedSince } : { failures: 0, since: now }
}

const wrongFactor = (): AppError => new AppError('InvalidVerificationCode', t('error.app-code'))

const noFactor = (): AppError => new AppError('SecondFactorMissing', t('error.app-missing'))

const alreadySet = (): AppError => new AppError('SecondFactorAlreadySet', t('error.app-there'))

function tooManyWrongCodes(since: Date, now: Date): AppError {
  const waitMs = since.getTime() + FAILURES_WITHIN_MS - now.getTime()
  return new AppError('TooManyRequests', t('error.app-codes'), {
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  })
}
