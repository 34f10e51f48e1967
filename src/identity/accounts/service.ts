import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { User } from '#identity/users/model.ts'
import type { Site } from '#sites/site.ts'

import { InviteAcceptances, type InviteAcceptancesDeps } from './invite-acceptances.ts'
import type {
  AuthenticationResult,
  Credentials,
  InviteAcceptance,
  OpenInvite,
  OwnPasswordChange,
  PasswordAddition,
  PasswordReset,
  CodeResendRequest,
  SignUpConfirmation,
  SignUpReceipt,
} from './model.ts'
import { OwnPasswords, type OwnPasswordsDeps } from './own-passwords.ts'
import { PasswordResets, type PasswordResetsDeps } from './password-resets.ts'
import { PasswordSignIns, type PasswordSignInsDeps } from './password-sign-ins.ts'
import { SignUps, type SignUpsDeps } from './sign-ups.ts'

type AccountsDeps = SignUpsDeps &
  PasswordSignInsDeps &
  PasswordResetsDeps &
  OwnPasswordsDeps &
  InviteAcceptancesDeps

/**
 * Accounts as their owners use them: sign-up, password, mailed code, invite. Nothing here says whether an address has an
 * account, neither in words nor by the work that is done.
 */
export class Accounts {
  readonly #signUps: SignUps
  readonly #signIns: PasswordSignIns
  readonly #recoveries: PasswordResets
  readonly #ownPasswords: OwnPasswords
  readonly #inviteTakings: InviteAcceptances

  constructor(deps: AccountsDeps) {
    this.#signUps = new SignUps(deps)
    this.#signIns = new PasswordSignIns(deps)
    this.#recoveries = new PasswordResets(deps)
    this.#ownPasswords = new OwnPasswords(deps)
    this.#inviteTakings = new InviteAcceptances(deps)
  }

  /** 403 `SignUpDisabled`, 400 `InvalidPassword`, 429; the same answer when the address has an account. */
  signUp(
    site: Site,
    pool: Pool,
    credentials: Credentials,
    origin: RequestOrigin,
  ): Promise<SignUpReceipt> {
    return this.#signUps.signUp(site, pool, credentials, origin)
  }

  /** 400 `InvalidVerificationCode`, 429. */
  confirmSignUp(
    site: Site,
    pool: Pool,
    confirmation: SignUpConfirmation,
    origin: RequestOrigin,
  ): Promise<{ readonly sub: string }> {
    return this.#signUps.confirm(site, pool, confirmation, origin)
  }

  /** Mails the sign-up a new code, in whose place the old one is dead. 429. */
  resendCode(
    site: Site,
    pool: Pool,
    request: CodeResendRequest,
    origin: RequestOrigin,
  ): Promise<void> {
    return this.#signUps.resend(site, pool, request, origin)
  }

  /** Mails the account's owner a code, if there is one. 429. */
  forgotPassword(site: Site, pool: Pool, email: string, origin: RequestOrigin): Promise<void> {
    return this.#recoveries.request(site, pool, email, origin)
  }

  /** 400 `InvalidVerificationCode` or `InvalidPassword`, 429. Signs the user out everywhere. */
  confirmForgotPassword(
    site: Site,
    pool: Pool,
    reset: PasswordReset,
    origin: RequestOrigin,
  ): Promise<void> {
    return this.#recoveries.confirm(site, pool, reset, origin)
  }

  /** 401 `InvalidCredentials`, 429. */
  authenticate(
    site: Site,
    pool: Pool,
    credentials: Credentials,
    origin: RequestOrigin,
  ): Promise<AuthenticationResult> {
    return this.#signIns.authenticate(site, pool, credentials, origin)
  }

  /** 401 `InvalidCredentials`, 400 `InvalidPassword`, 429. Ends every sign-in but the one to keep. */
  changePassword(
    site: Site,
    pool: Pool,
    change: OwnPasswordChange,
    origin: RequestOrigin,
  ): Promise<void> {
    return this.#ownPasswords.change(site, pool, change, origin)
  }

  /** 409 `PasswordAlreadySet`, 400 `InvalidPassword`. */
  addPassword(
    site: Site,
    pool: Pool,
    addition: PasswordAddition,
    origin: RequestOrigin,
  ): Promise<void> {
    return this.#ownPasswords.add(site, pool, addition, origin)
  }

  hasPassword(site: Site, pool: Pool, sub: string): Promise<boolean> {
    return this.#ownPasswords.has(site, pool, sub)
  }

  /** Looks at an invite without using it up; undefined when it is unknown, used or expired. */
  findInvite(site: Site, token: string): Promise<OpenInvite | undefined> {
    return this.#inviteTakings.find(site, token)
  }

  /** 410 `LinkExpired` when it is unknown, used or expired; 400 `InvalidPassword`. */
  acceptInvite(site: Site, taking: InviteAcceptance, origin: RequestOrigin): Promise<User> {
    return this.#inviteTakings.accept(site, taking, origin)
  }
}
