import { AppError } from '#base/app-error.ts'
import { RESET_LIFETIME_MS, VERIFICATION_LIFETIME_MS } from '#identity/mailed-codes.ts'
import type { Pool } from '#identity/pools/model.ts'
import { mailDeletionLinkAgain } from '#identity/self-service/deletion-links.ts'
import type { User } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { QueueJobs } from '#platform/queue/queue.ts'
import type { Site } from '#sites/site.ts'

import type { AccountServiceDeps } from './account-deps.ts'
import { updateSignUpCode } from './sign-up-queries.ts'

type Job = QueueJobs['account-mail']

/** Answers requests that name an address, by mail to that address: only its owner learns whether it has an account. */
export class AccountMail {
  readonly #deps: AccountServiceDeps

  constructor(deps: AccountServiceDeps) {
    this.#deps = deps
  }

  /** Code and mail come into being together, and running again after a crash leaves the code good that was mailed. */
  async run(job: Job): Promise<void> {
    const site = await foundOrUndefined(this.#deps.siteOf(job.siteId))
    const pool = site && (await foundOrUndefined(this.#deps.directory.pool(site, job.userPoolId)))
    if (!site || !pool) return
    await this.#deps.database.withSite(site.siteId, async (tx) => {
      const user = await this.#deps.users.findByEmail(tx, pool.userPoolId, job.email)
      if (user?.status === 'DELETING') await this.#mailDeletion(tx, site, pool, { job, user })
      else if (job.ask === 'reset') await this.#mailReset(tx, site, pool, { job, user })
      else await this.#mailSignUp(tx, site, pool, { job, user })
    })
  }

  async #mailReset(
    tx: SiteTx,
    site: Site,
    pool: Pool,
    { job, user }: { readonly job: Job; readonly user: User | undefined },
  ): Promise<void> {
    // An invited user has the invite.
    if (user?.status !== 'ACTIVE') return
    const { userCodes, authEmails } = this.#deps
    const { userPoolId, kind } = pool
    const { sub, activeEmail } = user
    const { requester = '', requestId } = job
    const code = await userCodes.createOnce(
      tx,
      { userPoolId, sub, purpose: 'reset', requester },
      { email: activeEmail, lifetimeMs: RESET_LIFETIME_MS, requestId },
    )
    if (code === undefined) return
    await authEmails.send(tx, site, { kind: 'reset', pool: kind, to: activeEmail, code }, job)
  }

  /** Mails the link again when a sign-in to an account that is being deleted is requested. */
  async #mailDeletion(
    tx: SiteTx,
    site: Site,
    pool: Pool,
    { job, user }: { readonly job: Job; readonly user: User },
  ): Promise<void> {
    // A sign-up with its address goes on like any other: only no mail has its code.
    if (job.ask !== 'reset') await this.#newSignUpCode(tx, pool, job)
    await mailDeletionLinkAgain(this.#deps, tx, { site, pool }, { user, asker: job })
  }

  /** Sign-ups with an address that has an account look like others, or their maker could tell: only no mail has their code. */
  async #mailSignUp(
    tx: SiteTx,
    site: Site,
    pool: Pool,
    { job, user }: { readonly job: Job; readonly user: User | undefined },
  ): Promise<void> {
    const { authEmails } = this.#deps
    const { kind } = pool
    const code = await this.#newSignUpCode(tx, pool, job)
    if (!user && code !== undefined) {
      const mail = { kind: 'verification', pool: kind, to: job.email, code } as const
      await authEmails.send(tx, site, mail, job)
    }
    if (user && (code !== undefined || job.ask === 'resend')) {
      const mail = { kind: 'account-exists', pool: kind, to: user.activeEmail } as const
      await authEmails.send(tx, site, mail, job)
    }
  }

  /** Undefined when there is no such sign-up, or nothing to do for it any more: this request has its code. */
  async #newSignUpCode(
    tx: SiteTx,
    { userPoolId }: Pool,
    { registrationId, email, ask, requestId }: Job,
  ): Promise<string | undefined> {
    if (registrationId === undefined) return undefined
    const { clock, codes } = this.#deps
    const code = codes.create()
    const now = clock.now()
    const scope = { siteId: tx.siteId, userPoolId, purpose: 'sign-up', id: registrationId } as const
    const changed = {
      registrationId,
      email,
      codeHash: codes.hash(scope, code),
      expiresAt: new Date(now.getTime() + VERIFICATION_LIFETIME_MS),
      onlyFirst: ask === 'sign-up',
      requestId,
    }
    return (await updateSignUpCode(tx, userPoolId, changed, now)) ? code : undefined
  }
}

/** Site and pool may have been deleted since the request. */
async function foundOrUndefined<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (error instanceof AppError && error.code.endsWith('NotFound')) return undefined
    throw error
  }
}
