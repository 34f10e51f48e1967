import { Elysia, t } from 'elysia'

import type { AppContext } from '#context'
import { type EventStreamSource, eventStream } from '#http/event-stream.ts'
import { admitAdmin, adminAuth } from '#http/plugins/admin-auth.ts'
import type { ChangedMailboxes } from '#mail/changes/streams.ts'
import type { Site } from '#sites/site.ts'

const StreamQuery = t.Object({ mailbox: t.Optional(t.String({ maxLength: 512 })) })

/** Says live that a mailbox has news: what they are, the list of messages tells. */
export const messageStreamRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/messages/stream' }).use(adminAuth(context)).get(
    '/',
    async ({ site, actor, query: { mailbox }, request }) => {
      if (mailbox !== undefined) await context.messages.requireReadable(site, actor, mailbox)
      return eventStream(request, mailboxChanges(context, site, { mailbox, request }))
    },
    {
      role: 'user',
      summary: 'Follow the messages of a mailbox',
      errors: ['MailboxNotFound'],
      query: StreamQuery,
      responds: 'events',
    },
  )

/** One stream too many is refused at once; after that, rights are asked for before each event: the stream ends with them. */
const mailboxChanges = (
  context: AppContext,
  site: Site,
  asked: { readonly mailbox: string | undefined; readonly request: Request },
): EventStreamSource => ({
  events: (signal) =>
    readableChanges(context, site, asked, context.mailboxStreams.follow(site.siteId, signal)),
})

async function* readableChanges(
  context: AppContext,
  site: Site,
  { mailbox, request }: { readonly mailbox: string | undefined; readonly request: Request },
  changes: AsyncGenerator<ChangedMailboxes, void, undefined>,
): ReturnType<EventStreamSource['events']> {
  for await (const changed of changes) {
    const reader = await admitAdmin(context, site, { request, least: 'user' })
    const addresses = await context.messages.readableChanges(site, reader, { mailbox, changed })
    // A change of what they may not read is no event, and no sign of life either.
    if (addresses.length > 0 || changed.size === 0) {
      yield addresses.map((address) => ({ event: 'change', data: { mailbox: address } }))
    }
  }
}
