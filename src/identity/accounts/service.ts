import { AppError } from '#base/app-error.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { User } from '#identity/users/model.ts'
import type { Site } from '#sites/site.ts'

import type {
  Authenticated,
  Credentials,
  InviteTaking,
  KeptSession,
  OpenInvite,
  PasswordChange,
  PasswordReset,
  ResendRequest,
  SignUpConfirmation,
  SignedUp,
} from './model.ts'

/**
 * Accounts as their owners use them: sign-up, password, mailed code, invite. Nothing here says whether an address has an
 * account, neither in words nor by the work that is done.
 */
export class Accounts {
  /** 403 `SignUpDisabled`, 400 `InvalidPassword`; the same answer when the address has an account. */
  signUp(
    _site: Site,
    _pool: Pool,
    _credentials: Credentials,
    _origin: RequestOrigin,
  ): Promise<SignedUp> {
    return notYet()
  }

  /** 400 `InvalidVerificationCode`. */
  confirmSignUp(
    _site: Site,
    _pool: Pool,
    _confirmation: SignUpConfirmation,
    _origin: RequestOrigin,
  ): Promise<{ readonly sub: string }> {
    return notYet()
  }

  resendCode(
    _site: Site,
    _pool: Pool,
    _request: ResendRequest,
    _origin: RequestOrigin,
  ): Promise<void> {
    return notYet()
  }

  forgotPassword(_site: Site, _pool: Pool, _email: string, _origin: RequestOrigin): Promise<void> {
    return notYet()
  }

  /** 400 `InvalidVerificationCode` or `InvalidPassword`. Signs the user out everywhere. */
  confirmForgotPassword(
    _site: Site,
    _pool: Pool,
    _reset: PasswordReset,
    _origin: RequestOrigin,
  ): Promise<void> {
    return notYet()
  }

  /** 401 `InvalidCredentials`, 429 `TooManyRequests`. */
  authenticate(
    _site: Site,
    _pool: Pool,
    _credentials: Credentials,
    _origin: RequestOrigin,
  ): Promise<Authenticated> {
    return notYet()
  }

  /** 401 `InvalidCredentials`, 400 `InvalidPassword`. Ends every sign-in but the one to keep. */
  changePassword(
    _site: Site,
    _pool: Pool,
    _change: PasswordChange & { readonly sub: string; readonly keep?: KeptSession | undefined },
    _origin: RequestOrigin,
  ): Promise<void> {
    return notYet()
  }

  /** 409 `PasswordAlreadySet`. */
  addPassword(
    _site: Site,
    _pool: Pool,
    _addition: { readonly sub: string; readonly password: string },
    _origin: RequestOrigin,
  ): Promise<void> {
    return notYet()
  }

  hasPassword(_site: Site, _pool: Pool, _sub: string): Promise<boolean> {
    return notYet()
  }

  /** Looks at an invite without using it up; undefined when it is unknown, used or expired. */
  inviteOf(_site: Site, _token: string): Promise<OpenInvite | undefined> {
    return notYet()
  }

  /** 410 `LinkExpired` when it is unknown, used or expired; 400 `InvalidPassword`. */
  takeInvite(_site: Site, _taking: InviteTaking, _origin: RequestOrigin): Promise<User> {
    return notYet()
  }
}

const notYet = (): Promise<never> =>
  Promise.reject(new AppError('NotImplemented', 'Accounts are not there yet'))
