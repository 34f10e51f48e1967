import type { Role } from '#base/actor.ts'
import type { UserKey } from '#identity/user-key.ts'

/** An invited user cannot sign in before the invitation is taken up; a visitor who is disabled, or deletes the account, not at all. */
export type UserStatus = 'INVITED' | 'ACTIVE' | 'DISABLED' | 'DELETING'

export interface User extends UserKey {
  readonly email: string
  readonly emailVerified: boolean
  readonly externalEmail: string | null
  /** What they call themselves. */
  readonly name: string | null
  /** Where mail about the account goes: `email` or `externalEmail`, as the user chose. */
  readonly activeEmail: string
  readonly status: UserStatus
  /** Null in the data pool. */
  readonly role: Role | null
  readonly tokensValidAfter: Date
}

/** What decides, at each request, whether a user's token still counts. */
export interface AccountStatus {
  readonly email: string
  readonly role: Role | null
  /** Tokens issued before this moment are refused. */
  readonly tokensValidAfter: Date
  /** Data groups, now. */
  readonly groups: readonly string[]
  /** Whether the sign-in that the token comes from has been ended. */
  readonly signedOut: boolean
}

/** A user, and the sign-in that a token of theirs comes from. */
export interface AccountStatusKey extends UserKey {
  readonly familyId: string | undefined
}

/** `iat` is in whole seconds, so a token of the very second in which all were revoked is refused; the next one is not. */
export const isRevoked = (
  status: Pick<AccountStatus, 'signedOut' | 'tokensValidAfter'>,
  issuedAtSeconds: number,
): boolean => status.signedOut || issuedAtSeconds * 1000 < status.tokensValidAfter.getTime()

/** The `iat` of a token made now: never a second that the user's revocation refuses, so at most one second ahead. */
export function issueSecond(now: Date, tokensValidAfter: Date): number {
  const nowSecond = Math.floor(now.getTime() / 1000)
  const validSecond = Math.ceil(tokensValidAfter.getTime() / 1000)
  return Math.max(nowSecond, validSecond)
}
