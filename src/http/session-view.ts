import { Type } from '@sinclair/typebox'

import { ListedSession } from '#identity/sessions/model.ts'

export const SessionList = Type.Object({ items: Type.Array(ListedSession), nextToken: Type.Null() })

export const sessionList = (sessions: readonly ListedSession[]) => ({
  items: [...sessions],
  nextToken: null,
})
