import { randomBytes } from 'node:crypto'

import { Type } from '@sinclair/typebox'

import { AppError, invalid } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import type { AuthEmails } from '#identity/auth-emails/auth-emails.ts'
import { PROOF_LIFETIME_MS } from '#identity/mailed-codes.ts'
import { CHALLENGE_MS } from '#identity/passkeys/model.ts'
import { passkeyRequestOptions } from '#identity/passkeys/options.ts'
import type { Passkeys } from '#identity/passkeys/passkeys.ts'
import type { Passwords } from '#identity/passwords/passwords.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { AuthRateLimiter } from '#identity/rate-limits/auth-rate-limiter.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { UserCodeKey } from '#identity/user-codes/model.ts'
import type { UserCodes } from '#identity/user-codes/user-codes.ts'
import type { User } from '#identity/users/model.ts'
import type { Users } from '#identity/users/users.ts'
import { t } from '#languages/message.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { ExpiringSeal } from '#platform/seal/expiring-seal.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { Proof, ProofMethods, ProofSubject } from './model.ts'

const MAX_LENGTH = 500
const CHALLENGE_BYTES = 32

const Content = Type.Object({ challenge: Type.String({ minLength: 43 }) })

/** `PublicKeyCredentialRequestOptionsJSON`, and what comes back with what the device signed. */
export interface PasskeyProofRequest {
  readonly options: ReturnType<typeof passkeyRequestOptions>
  readonly challenge: string
}

export interface MailedProofCode {
  readonly email: string
  readonly expiresAt: Date
}

/**
 * What moves an account takes a proof of its owner in the same request: the password, a passkey, or a mailed code where the account
 * has neither. A session or a token is none. Errors are 400 `ValidationError` about the field of `Proof`, and 429.
 */
export class Proofs {
  readonly #deps
  readonly #challenges: ProofChallenges

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly sealer: Pick<Sealer, 'derive'>
      readonly users: Users
      readonly passwords: Passwords
      readonly userCodes: UserCodes
      readonly rateLimiter: AuthRateLimiter
      readonly events: SecurityEvents
      readonly authEmails: AuthEmails
      readonly passkeys: Pick<Passkeys, 'list' | 'authenticate'>
    },
  ) {
    this.#deps = deps
    this.#challenges = new ProofChallenges(deps)
  }

  async methods(request: PoolRequest, sub: string): Promise<ProofMethods> {
    const { site, pool } = request
    const { database, users, passwords, passkeys } = this.#deps
    const { email, password } = await database.withSite(site.siteId, async (tx) => ({
      email: (await users.active(tx, pool.userPoolId, sub)).activeEmail,
      password: await passwords.exists(tx, pool, sub),
    }))
    return { email, password, passkey: (await passkeys.list(site, pool, sub)).length > 0 }
  }

  passkeyRequest(request: PoolRequest, subject: ProofSubject): PasskeyProofRequest {
    const { challenge, sealed } = this.#challenges.create(request, subject)
    return { options: passkeyRequestOptions(request.pool, challenge), challenge: sealed }
  }

  /** Mails a code to an account that has neither password nor passkey. 429. */
  async mailCode(request: PoolRequest, subject: ProofSubject): Promise<MailedProofCode> {
    const { site, pool, origin } = request
    const { database, users, userCodes, rateLimiter, authEmails } = this.#deps
    const { sub, action } = subject
    const { password, passkey } = await this.methods(request, sub)
    if (password || passkey) throw codeNotTaken()
    const { userPoolId } = pool
    const { email } = await this.#user(request, sub)
    await rateLimiter.beginMail({ ...request, email })
    return database.withSite(site.siteId, async (tx) => {
      const { activeEmail } = await users.active(tx, userPoolId, sub)
      const to = { email: activeEmail, lifetimeMs: PROOF_LIFETIME_MS }
      const { code, expiresAt } = await userCodes.create(tx, keyOf(request, subject), to)
      const mail = { kind: 'proof', pool: pool.kind, to: activeEmail, code, action } as const
      await authEmails.send(tx, site, mail, origin)
      return { email: activeEmail, expiresAt }
    })
  }

  /** Does the work once the owner has proven to be there. A code that was right is good until the work is done. */
  async run<Result>(
    request: PoolRequest,
    subject: ProofSubject,
    proof: Proof,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const methods = await this.methods(request, subject.sub)
    if (proof.passkey !== undefined && methods.passkey) {
      await this.#provePasskey(request, subject, proof.passkey)
      return work()
    }
    if (methods.password) {
      await this.#provePassword(request, subject, proof.currentPassword ?? '')
      return work()
    }
    if (methods.passkey) throw invalid('passkey', t('fault.passkey-needed'))
    await this.#proveCode(request, subject, proof.proofCode ?? '')
    const result = await work()
    await this.#deps.database.withSite(request.site.siteId, (tx) =>
      this.#deps.userCodes.delete(tx, keyOf(request, subject)),
    )
    return result
  }

  async #provePassword(
    request: PoolRequest,
    { sub }: ProofSubject,
    password: string,
  ): Promise<void> {
    const { site, pool, origin } = request
    const { database, passwords, rateLimiter, events } = this.#deps
    if (password === '') {
      throw invalid('currentPassword', t('fault.current-password-needed'))
    }
    const { email } = await this.#user(request, sub)
    const right = await rateLimiter.attempt('account', { ...request, email }, async () => {
      const hash = await database.withSite(site.siteId, (tx) => passwords.hashOf(tx, pool, sub))
      if (await passwords.verify(hash, password, origin.address)) return true
      const event = { event: 'sign-in.failed', pool: pool.kind, sub, email, origin } as const
      await events.note(site.siteId, { ...event, detail: { when: 'changing the account' } })
      return undefined
    })
    if (!right) throw invalid('currentPassword', t('fault.current-password-wrong'))
  }

  async #provePasskey(
    request: PoolRequest,
    subject: ProofSubject,
    { credential, challenge: sealed }: NonNullable<Proof['passkey']>,
  ): Promise<void> {
    const { rateLimiter, passkeys } = this.#deps
    const challenge = this.#challenges.open(request, subject, sealed)
    if (challenge === undefined) throw invalid('passkey', t('error.page-expired'))
    const { email } = await this.#user(request, subject.sub)
    const right = await rateLimiter.attempt('account', { ...request, email }, () =>
      passkeys.authenticate(request, { credential, challenge }).then(
        ({ sub }) => (sub === subject.sub ? true : undefined),
        (error: unknown) => {
          if (error instanceof AppError && error.code === 'InvalidCredentials') return undefined
          throw error
        },
      ),
    )
    if (!right) throw invalid('passkey', t('error.passkey'))
  }

  async #proveCode(request: PoolRequest, subject: ProofSubject, code: string): Promise<void> {
    const { site, pool, origin } = request
    const { database, rateLimiter, events } = this.#deps
    if (code.trim() === '') throw invalid('proofCode', t('fault.code-needed'))
    const { sub } = subject
    const { email } = await this.#user(request, sub)
    const right = await rateLimiter.attempt('code', { ...request, email }, () =>
      database.withSite(site.siteId, async (tx) => {
        if (await this.#isCode(tx, request, subject, code)) return true
        const event = { event: 'code.failed', pool: pool.kind, sub, email, origin } as const
        await events.record(tx, event)
        return undefined
      }),
    )
    if (!right) throw invalid('proofCode', t('error.code'))
  }

  /** The try counts in any case. A code dies with the address that it went to. */
  async #isCode(
    tx: SiteTx,
    request: PoolRequest,
    subject: ProofSubject,
    code: string,
  ): Promise<boolean> {
    const email = await this.#deps.userCodes.take(tx, keyOf(request, subject), code)
    const { activeEmail } = await this.#deps.users.active(tx, request.pool.userPoolId, subject.sub)
    return email === activeEmail
  }

  #user({ site, pool }: PoolRequest, sub: string): Promise<User> {
    const { database, users } = this.#deps
    return database.withSite(site.siteId, (tx) => users.active(tx, pool.userPoolId, sub))
  }
}

const keyOf = ({ pool }: PoolRequest, { sub, signIn, action }: ProofSubject): UserCodeKey => ({
  userPoolId: pool.userPoolId,
  sub,
  purpose: 'proof',
  requester: `${action} ${signIn}`,
})

const codeNotTaken = (): AppError =>
  invalid('proofCode', 'is for accounts without a password and without a passkey')

/** What a device signs to prove its owner, sealed for one account, one sign-in and one action. Nothing is stored. */
class ProofChallenges {
  readonly #seal: ExpiringSeal<typeof Content>

  constructor({ sealer, clock }: { sealer: Pick<Sealer, 'derive'>; clock: Clock }) {
    const key = sealer.derive('proof-challenges')
    const bounds = { lifetimeMs: CHALLENGE_MS, maxLength: MAX_LENGTH }
    this.#seal = new ExpiringSeal({ key, clock, fields: Content, ...bounds })
  }

  create(
    request: PoolRequest,
    subject: ProofSubject,
  ): { readonly challenge: string; readonly sealed: string } {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url')
    return { challenge, sealed: this.#seal.seal(contextOf(request, subject), { challenge }) }
  }

  /** Undefined for one of another subject, and for one that was changed or has expired. */
  open(request: PoolRequest, subject: ProofSubject, sealed: string): string | undefined {
    return this.#seal.open(contextOf(request, subject), sealed)?.challenge
  }
}

const contextOf = ({ pool }: PoolRequest, { sub, signIn, action }: ProofSubject): string =>
  [pool.issuer, sub, signIn, action].join('\n')
