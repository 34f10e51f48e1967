import type { Static } from '@sinclair/typebox'
import { t } from 'elysia'

import { type Actor, actorId } from '#base/actor.ts'
import type { AppContext } from '#context'
import { parseMessageFilter } from '#mail/messages/message-filter.ts'
import type { Site } from '#sites/site.ts'

import { PageQuery, answerPage } from './paging.ts'
import { NameText } from './path-params.ts'

const Time = t.Optional(t.String({ maxLength: 40 }))
const Flag = t.Optional(t.String({ maxLength: 5 }))

/** Which messages, and which page of them. Filters stay text here so that their faults get our words. */
export const MessageListQuery = t.Composite([
  t.Object({
    mailbox: t.Optional(t.String({ maxLength: 512 })),
    folder: t.Optional(t.String({ maxLength: 16 })),
    includeDeleted: Flag,
    startTime: Time,
    from: Time,
    since: Time,
    after: Time,
    endTime: Time,
    to: Time,
    until: Time,
    before: Time,
    threadId: t.Optional(NameText),
    seen: Flag,
    q: t.Optional(t.String({ maxLength: 2000 })),
  }),
  PageQuery,
])

/** A page of those messages that the reader may read. */
export async function answerMessages(
  context: AppContext,
  site: Site,
  reader: Actor,
  query: Static<typeof MessageListQuery>,
) {
  const { limit: _limit, nextToken: _nextToken, mailbox, ...filters } = query
  const scope = [site.siteId, 'messages', actorId(reader), JSON.stringify({ mailbox, ...filters })]
  const listed = { mailbox, filter: parseMessageFilter(filters) }
  return answerPage(context, { scope, query }, (page) =>
    context.messages.list(site, reader, listed, page),
  )
}
