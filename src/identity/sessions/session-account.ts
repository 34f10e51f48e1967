import type { Role } from '#identity/actor.ts'
import type { TokenSubject } from '#identity/tokens/claims.ts'

/** An account that may hold tokens, as it is now. */
export interface SessionAccount {
  readonly sub: string
  readonly email: string
  readonly emailVerified: boolean
  readonly role: Role | null
  readonly tokensValidAfter: Date
  readonly signInsValidAfter: Date
  /** Data groups. */
  readonly groups: readonly string[]
}

/** As tokens name them: the role is the only group of an admin. */
export const tokenSubjectOf = ({ role, groups, ...holder }: SessionAccount): TokenSubject => ({
  sub: holder.sub,
  username: holder.email,
  email: holder.email,
  emailVerified: holder.emailVerified,
  groups: role === null ? groups : [role],
})
