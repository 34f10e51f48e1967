import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { AuthEmails } from '#identity/auth-emails/service.ts'
import type { Invites } from '#identity/invites/service.ts'
import type { BreachedPasswords } from '#identity/passwords/breached-passwords.ts'
import { CommonPasswords } from '#identity/passwords/common-passwords.ts'
import { PasswordHasher } from '#identity/passwords/hasher.ts'
import { Passwords } from '#identity/passwords/service.ts'
import type { SrpVerifiers } from '#identity/passwords/srp-verifiers.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { AuthRateLimiter } from '#identity/rate-limits/auth-rate-limiter.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { SignOut } from '#identity/sessions/sign-out.ts'
import type { Users } from '#identity/users/service.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Queue } from '#platform/queue/queue.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import { AccountMail } from './account-mail.ts'
import { InviteAcceptances } from './invite-acceptances.ts'
import { MailedCodes } from './mailed-codes.ts'
import { OwnPasswords } from './own-passwords.ts'
import { PasswordResets } from './password-resets.ts'
import { PasswordSignIns } from './password-sign-ins.ts'
import { SignUps } from './sign-ups.ts'

/** Each makes a code and puts a mail on its way. */
const MAIL_CONCURRENCY = 2

export interface AccountsDeps {
  readonly database: Database
  readonly queue: Queue
  readonly sealer: Sealer
  readonly siteKeys: SiteKeys
  readonly clock: Clock
  readonly ids: Ids
  readonly directory: PoolDirectory
  readonly users: Users
  readonly invites: Invites
  readonly rateLimiter: AuthRateLimiter
  readonly events: SecurityEvents
  readonly authEmails: AuthEmails
  readonly signOut: SignOut
  /** Ours when left out. */
  readonly breachedPasswords?: BreachedPasswords
  readonly srpVerifiers?: SrpVerifiers
  siteOf(siteId: string): Promise<Site>
}

/**
 * Accounts as their owners use them. Nothing here says whether an address has an account, neither in words nor by the work
 * that is done.
 */
export interface AccountServices {
  readonly passwords: Passwords
  readonly signUps: SignUps
  readonly passwordSignIns: PasswordSignIns
  readonly passwordResets: PasswordResets
  readonly ownPasswords: OwnPasswords
  readonly inviteAcceptances: InviteAcceptances
}

export function openAccounts(deps: AccountsDeps): AccountServices {
  const codes = new MailedCodes(deps)
  const passwords = new Passwords({
    breachedPasswords: new CommonPasswords(),
    ...deps,
    hasher: new PasswordHasher({ secret: deps.sealer.derive('passwords') }),
  })
  const mail = new AccountMail({ ...deps, codes })
  deps.queue.handle('account-mail', (job) => mail.run(job), { concurrency: MAIL_CONCURRENCY })
  const known = { ...deps, codes, passwords }
  return {
    passwords,
    signUps: new SignUps(known),
    passwordSignIns: new PasswordSignIns(known),
    passwordResets: new PasswordResets(known),
    ownPasswords: new OwnPasswords(known),
    inviteAcceptances: new InviteAcceptances(known),
  }
}
