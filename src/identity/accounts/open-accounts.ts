import { MailedCodes } from '#identity/mailed-codes.ts'
import { Passkeys } from '#identity/passkeys/passkeys.ts'
import { PASSWORD_KEY } from '#identity/passwords/hash-keys.ts'
import { PasswordHasher } from '#identity/passwords/hasher.ts'
import { KnownPasswords } from '#identity/passwords/known-passwords.ts'
import { Passwords } from '#identity/passwords/passwords.ts'
import { Proofs } from '#identity/proofs/proofs.ts'
import { SecondFactors } from '#identity/second-factors/second-factors.ts'
import { UserCodes } from '#identity/user-codes/user-codes.ts'

import type { AccountsDeps } from './account-deps.ts'
import { AccountMail } from './account-mail.ts'
import { InviteAcceptances } from './invite-acceptances.ts'
import { OwnPasswords } from './own-passwords.ts'
import { PasswordResets } from './password-resets.ts'
import { PasswordSignIns } from './password-sign-ins.ts'
import { SignUps } from './sign-ups.ts'

/** Each makes a code and puts a mail on its way. */
const MAIL_CONCURRENCY = 2

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
  readonly secondFactors: SecondFactors
  readonly passkeys: Passkeys
  readonly proofs: Proofs
}

export function openAccounts(deps: AccountsDeps): AccountServices {
  const codes = new MailedCodes(deps)
  const passwords = new Passwords({
    breachedPasswords: new KnownPasswords(),
    ...deps,
    hasher: new PasswordHasher({ secret: deps.sealer.derive(PASSWORD_KEY) }),
  })
  const userCodes = new UserCodes({ ...deps, codes })
  const serviceDeps = { ...deps, codes, userCodes, passwords }
  const mail = new AccountMail(serviceDeps)
  deps.queue.handle('account-mail', (job) => mail.run(job), { concurrency: MAIL_CONCURRENCY })
  const passkeys = new Passkeys(serviceDeps)
  return {
    passwords,
    signUps: new SignUps(serviceDeps),
    passwordSignIns: new PasswordSignIns(serviceDeps),
    passwordResets: new PasswordResets(serviceDeps),
    ownPasswords: new OwnPasswords(serviceDeps),
    inviteAcceptances: new InviteAcceptances(serviceDeps),
    secondFactors: new SecondFactors(serviceDeps),
    passkeys,
    proofs: new Proofs({ ...serviceDeps, passkeys }),
  }
}
