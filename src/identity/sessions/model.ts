import type { Role } from '#identity/actor.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

/** The lifetime of a browser's session and of a sign-in's refresh tokens: absolute, use does not prolong it. */
export const SIGN_IN_LIFETIME_MS = 30 * 24 * 3_600_000

export type SignInMethod = 'password' | 'google' | 'onboarding'

/** A browser that is signed in to a pool. */
export interface Session {
  readonly sessionId: string
  readonly sub: string
  readonly authTime: Date
  readonly method: SignInMethod
  readonly expiresAt: Date
}

/** A sign-in as its owner sees it: a browser's, or a client's that has no browser session (any more). */
export interface SessionView {
  readonly sessionId: string
  /** Null for a client without a browser session. */
  readonly method: SignInMethod | null
  readonly userAgent: string
  readonly address: string
  readonly createdAt: Date
  readonly lastSeenAt: Date
  readonly expiresAt: Date
}

/** Authorization codes that have not been exchanged yet: they end with the session that they come from. */
export interface SignInCodes {
  endBySession(tx: SiteTx, user: UserKey, sessionId: string): Promise<void>
  endByUser(tx: SiteTx, user: UserKey, keptSessionId: string | null): Promise<void>
}

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
