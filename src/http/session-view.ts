import type { AppContext } from '#context'
import { ListedSession } from '#identity/sessions/model.ts'

import { type Asked, PageOf, answerList } from './paging.ts'

export const SessionList = PageOf(ListedSession)

/** The newest first. */
export const answerSessions = (
  context: Pick<AppContext, 'pageTokens'>,
  asked: Asked,
  sessions: readonly ListedSession[],
) =>
  answerList(context, asked, sessions, ({ createdAt, sessionId }) => {
    const age = Number.MAX_SAFE_INTEGER - createdAt.getTime()
    return `${String(age).padStart(16, '0')} ${sessionId}`
  })
