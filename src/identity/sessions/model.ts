import { type Static, Type } from '@sinclair/typebox'

import type { Role } from '#base/actor.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

/** The lifetime of a browser's session and of a sign-in's refresh tokens. Use does not prolong it. */
export const SIGN_IN_LIFETIME_MS = 30 * 24 * 3_600_000

export type SignInMethod = 'password' | 'google' | 'onboarding' | 'passkey'

/** A browser that is signed in to a pool. */
export interface Session {
  readonly sessionId: string
  readonly sub: string
  readonly authTime: Date
  readonly method: SignInMethod
  readonly expiresAt: Date
}

/** A sign-in as its owner sees it: a browser's, or a client's that has no browser session (any more). */
export const ListedSession = Type.Object(
  {
    sessionId: Type.String(),
    /** Null for a client without a browser session. */
    method: Type.Union([Type.String(), Type.Null()]),
    userAgent: Type.String(),
    address: Type.String(),
    createdAt: Type.Date(),
    lastSeenAt: Type.Date(),
    expiresAt: Type.Date(),
    /** Whether it is the sign-in of the token that asks. */
    current: Type.Boolean(),
  },
  { title: 'Session' },
)
export type ListedSession = Static<typeof ListedSession>

export type SessionView = Omit<ListedSession, 'current'>

/** Which sign-ins have not ended. */
export interface ListedSince {
  readonly now: Date
  /** Those that were used last before it have ended. */
  readonly usedAfter: Date
  readonly limit: number
}

const LAST_SEEN_RESOLUTION_MS = 60_000

/** A session that was seen last before that is noted as seen again. */
export const lastSeenBefore = (now: Date): Date => new Date(now.getTime() - LAST_SEEN_RESOLUTION_MS)

/** The moment before which a sign-in must not have been used last. */
export const idleSince = ({ settings }: Pick<Pool, 'settings'>, now: Date): Date =>
  new Date(now.getTime() - settings.sessionIdleMinutes * 60_000)

/** Authorization codes that have not been exchanged yet: they end with the session that they come from. */
export interface SignInCodes {
  endBySession(tx: SiteTx, user: UserKey, sessionId: string): Promise<void>
  endByClient(tx: SiteTx, user: UserKey, clientId: string): Promise<void>
  endByUser(tx: SiteTx, user: UserKey, keptSessionId: string | null): Promise<void>
}

/** An account that may hold tokens, as it is now. */
export interface SessionAccount {
  readonly sub: string
  readonly email: string
  readonly emailVerified: boolean
  readonly name: string | null
  /** Of the pages on which they last signed in. */
  readonly language: string | null
  readonly role: Role | null
  readonly tokensValidAfter: Date
  readonly signInsValidAfter: Date
  /** Data groups. */
  readonly groups: readonly string[]
}
