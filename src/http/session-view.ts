import { Type } from '@sinclair/typebox'

import type { ListedSession } from '#identity/sessions/user-sessions.ts'

const SessionItem = Type.Object({
  sessionId: Type.String(),
  /** How they signed in; null for a client without a browser's session. */
  method: Type.Union([Type.String(), Type.Null()]),
  userAgent: Type.String(),
  address: Type.String(),
  createdAt: Type.Date(),
  lastSeenAt: Type.Date(),
  expiresAt: Type.Date(),
  /** Whether it is the sign-in of the token that asks. */
  current: Type.Boolean(),
})

export const SessionList = Type.Object({ items: Type.Array(SessionItem), nextToken: Type.Null() })

export const sessionList = (sessions: readonly ListedSession[]) => ({
  items: [...sessions],
  nextToken: null,
})
