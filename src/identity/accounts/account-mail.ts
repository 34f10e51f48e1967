import { AppError } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import type { AuthEmails } from '#identity/auth-emails/auth-email.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { User } from '#identity/users/model.ts'
import type { Users } from '#identity/users/service.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import { sweepExpired } from '#platform/postgres/sweep.ts'
import type { QueueJobs } from '#platform/queue/queue.ts'
import type { Site } from '#sites/site.ts'

import { upsertResetCode } from './code-queries.ts'
import { type MailedCodes, RESET_LIFETIME_MS, VERIFICATION_LIFETIME_MS } from './mailed-codes.ts'
import { deleteSignUps, updateSignUpCode } from './sign-up-queries.ts'

type Job = QueueJobs['account-mail']

export interface AccountMailDeps {
  readonly database: Database
  readonly clock: Clock
  readonly directory: PoolDirectory
  readonly users: Users
  readonly codes: MailedCodes
  readonly authEmails: AuthEmails
  siteOf(siteId: string): Promise<Site>
}

/** Answers those who asked with an address, by mail to that address: nobody else learns whether it has an account. */
export class AccountMail {
  readonly #deps: AccountMailDeps

  constructor(deps: AccountMailDeps) {
    this.#deps = deps
  }

  /** Code and mail come into being together, so running again after a crash leaves one good code. */
  async run(job: Job): Promise<void> {
    const site = await unlessGone(this.#deps.siteOf(job.siteId))
    const pool = site && (await unlessGone(this.#deps.directory.pool(site, job.userPoolId)))
    if (!site || !pool) return
    await this.#deps.database.withSite(site.siteId, async (tx) => {
      const user = await this.#deps.users.findByEmail(tx, pool.userPoolId, job.email)
      if (job.ask === 'reset') await this.#mailReset(tx, site, pool, user)
      else if (user) await this.#mailAccountExists(tx, site, pool, user)
      else await this.#mailVerification(tx, site, pool, job)
    })
  }

  async #mailReset(tx: SiteTx, site: Site, pool: Pool, user: User | undefined): Promise<void> {
    // An invited user has the invite.
    if (user?.status !== 'ACTIVE') return
    const { clock, codes, authEmails } = this.#deps
    const { userPoolId, kind } = pool
    const { sub, activeEmail } = user
    const code = codes.create()
    const createdAt = clock.now()
    const scope = { siteId: tx.siteId, userPoolId, purpose: 'reset', id: sub } as const
    await upsertResetCode(tx, {
      userPoolId,
      sub,
      codeHash: codes.hash(scope, code),
      email: activeEmail,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + RESET_LIFETIME_MS),
    })
    await sweepExpired(tx, 'user_code', createdAt)
    await authEmails.send(tx, site, { kind: 'reset', pool: kind, to: activeEmail, code })
  }

  async #mailAccountExists(tx: SiteTx, site: Site, pool: Pool, user: User): Promise<void> {
    await deleteSignUps(tx, { userPoolId: pool.userPoolId, email: user.email })
    const to = user.activeEmail
    await this.#deps.authEmails.send(tx, site, { kind: 'account-exists', pool: pool.kind, to })
  }

  async #mailVerification(tx: SiteTx, site: Site, pool: Pool, job: Job): Promise<void> {
    const { registrationId, email, ask } = job
    if (registrationId === undefined) return
    const { clock, codes, authEmails } = this.#deps
    const { userPoolId } = pool
    const code = codes.create()
    const now = clock.now()
    const scope = { siteId: tx.siteId, userPoolId, purpose: 'sign-up', id: registrationId } as const
    const changed = {
      registrationId,
      email,
      codeHash: codes.hash(scope, code),
      expiresAt: new Date(now.getTime() + VERIFICATION_LIFETIME_MS),
      onlyFirst: ask === 'sign-up',
    }
    if (!(await updateSignUpCode(tx, userPoolId, changed, now))) return
    await authEmails.send(tx, site, { kind: 'verification', pool: pool.kind, to: email, code })
  }
}

/** Site and pool may have been deleted since somebody asked. */
async function unlessGone<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (error instanceof AppError && error.code.endsWith('NotFound')) return undefined
    throw error
  }
}
