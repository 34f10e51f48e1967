import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import { invalid } from '#base/app-error.ts'
import type { Page } from '#base/page.ts'
import type { AppContext } from '#context'
import { type EventStreamSource, eventStream } from '#http/event-stream.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { NameText } from '#http/path-params.ts'
import { admitAdmin, adminAuth } from '#http/plugins/admin-auth.ts'
import { type LogFilter, LogRecord, parseFilter } from '#runtime/logs/model.ts'
import type { Site } from '#sites/site.ts'

export const LogFilterQuery = t.Object({
  operation: t.Optional(NameText),
  level: t.Optional(t.String({ maxLength: 16 })),
  requestId: t.Optional(NameText),
  since: t.Optional(t.String({ maxLength: 40 })),
  until: t.Optional(t.String({ maxLength: 40 })),
})
const Followed = t.Object({ follow: t.Optional(t.String({ maxLength: 5 })) })

/** What site code printed and what ended its calls: newest first, or live as server-sent events. */
export const logRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/logs' }).use(adminAuth(context)).get(
    '/',
    async ({ site, query, request }) => {
      const filter = parseFilter(query)
      if (isFollowed(query.follow, request)) {
        return eventStream(request, {
          events: (signal) => logEvents(context, site, { filter, request, signal }),
        })
      }
      const { limit: _limit, nextToken: _nextToken, ...filters } = query
      const scope = [site.siteId, 'logs', JSON.stringify(filters)]
      return answerPage(context, { scope, query }, (page) =>
        context.runtimeLogs.list(site.siteId, filter, page),
      )
    },
    {
      role: 'admin',
      query: t.Composite([LogFilterQuery, Followed, PageQuery]),
      // Elysia leaves a Response, here the stream, unchecked.
      response: Type.Unsafe<Page<LogRecord> | Response>(PageOf(LogRecord)),
    },
  )

function isFollowed(follow: string | undefined, request: Request): boolean {
  if (follow !== undefined && follow !== 'true' && follow !== 'false') {
    throw invalid('follow', 'must be "true" or "false"')
  }
  if (follow !== undefined) return follow === 'true'
  return (request.headers.get('accept') ?? '').includes('text/event-stream')
}

interface FollowedLog {
  readonly filter: LogFilter
  readonly request: Request
  readonly signal: AbortSignal
}

/** A client that comes back with `Last-Event-ID` misses no line. Whoever may read the log no more gets none. */
function logEvents(
  context: AppContext,
  site: Site,
  { filter, request, signal }: FollowedLog,
): ReturnType<EventStreamSource['events']> {
  const bearer = request.headers.get('authorization')
  const after = lastEventId(request)
  const batches = context.runtimeLogs.follow(site.siteId, filter, { after, signal })
  return (async function* events() {
    for await (const batch of batches) {
      await admitAdmin(context, site, { bearer, least: 'admin' })
      yield batch.map((line) => ({ id: line.logId, event: 'log', data: line }))
    }
  })()
}

function lastEventId(request: Request): string | undefined {
  const id = request.headers.get('last-event-id') ?? ''
  if (id === '') return undefined
  if (!/^\d{1,18}$/.test(id)) throw invalid('Last-Event-ID', 'is not the id of a log line')
  return id
}
