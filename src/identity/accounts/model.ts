import type { Role } from '#base/actor.ts'
import type { NewPassword } from '#identity/passwords/passwords.ts'
import type { User } from '#identity/users/model.ts'

/** An address and a password, as they were typed. */
export interface Credentials {
  readonly email: string
  readonly password: string
}

export interface NewAccount extends Credentials {
  /** What they call themselves. */
  readonly name?: string
}

export interface SignUpReceipt {
  /** Names this sign-up among all that wait for the same address. A confirmation that names it confirms this one. */
  readonly registrationId: string
  readonly sub: string
  /** In the spelling under which it is stored. */
  readonly email: string
}

export interface SignUpConfirmation {
  readonly email: string
  readonly code: string
  /** With it only that sign-up's code counts. */
  readonly registrationId?: string | undefined
  /** Picks the sign-up when there is no `registrationId`. */
  readonly password?: string | undefined
}

export interface CodeResendRequest {
  readonly email: string
  readonly registrationId?: string | undefined
}

export interface PasswordReset extends Credentials {
  readonly code: string
}

export type AuthenticationResult =
  | { readonly kind: 'signed-in'; readonly user: User }
  /** The password of a sign-up whose address is not proven yet. */
  | { readonly kind: 'unconfirmed'; readonly registrationId: string }

export interface OwnPasswordChange {
  readonly sub: string
  readonly oldPassword: string
  readonly newPassword: string
  /** The sign-in that goes on when every other one ends. */
  readonly keep?: { readonly sessionId: string } | undefined
}

export type PasswordAddition = Pick<NewPassword, 'sub' | 'password'>

export interface OpenInvite {
  readonly email: string
  readonly role: Role | null
}

/** Why an invite cannot be used: its password is set, it is too old and still there, or it is unknown. */
export type InviteEnd = 'used' | 'expired' | 'unknown'

export interface InviteAcceptance {
  readonly token: string
  readonly password: string
}
