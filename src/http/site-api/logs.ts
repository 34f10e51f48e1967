import { Type } from '@sinclair/typebox'
import { t } from 'elysia'

import { invalid } from '#base/app-error.ts'
import type { Page } from '#base/page.ts'
import type { AppContext } from '#context'
import { eventStream } from '#http/event-stream.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { NameText } from '#http/path-params.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import { type LogFilter, LogRecord, parseFilter } from '#runtime/logs/model.ts'

const LogFilterQuery = t.Object({
  operation: t.Optional(NameText),
  level: t.Optional(t.String({ maxLength: 16 })),
  requestId: t.Optional(NameText),
  since: t.Optional(t.String({ maxLength: 40 })),
  until: t.Optional(t.String({ maxLength: 40 })),
})
const Followed = t.Object({ follow: t.Optional(t.String({ maxLength: 5 })) })

/** What site code printed and what ended its calls: newest first, or live as server-sent events. */
export const logRoutes = siteFamily(
  { site: '/admin/data/logs', operator: '/logs', tokens: ['logs'] },
  (routes, context) =>
    routes.get(
      '/',
      async ({ site: { siteId }, pageScope, readmit, query, request }) => {
        const { limit: _limit, nextToken: _nextToken, follow, ...filters } = query
        const filter = parseFilter(filters)
        if (isFollowed(follow, request)) {
          return followedLog(context, { siteId, filter, request, readmit })
        }
        const scope = [...pageScope, 'logs', JSON.stringify(filters)]
        return answerPage(context, { scope, query }, (page) =>
          context.runtimeLogs.list(siteId, filter, page),
        )
      },
      {
        role: 'admin',
        summary: 'List log lines, or follow the log',
        query: t.Composite([LogFilterQuery, Followed, PageQuery]),
        // Elysia leaves a Response, here the stream, unchecked.
        response: Type.Unsafe<Page<LogRecord> | Response>(PageOf(LogRecord)),
        responds: 'events',
      },
    ),
)

function isFollowed(follow: string | undefined, request: Request): boolean {
  if (follow !== undefined && follow !== 'true' && follow !== 'false') {
    throw invalid('follow', 'must be "true" or "false"')
  }
  if (follow !== undefined) return follow === 'true'
  return (request.headers.get('accept') ?? '').includes('text/event-stream')
}

interface FollowedLog {
  readonly siteId: string
  readonly filter: LogFilter
  readonly request: Request
  /** Rejects once the caller may not read the log any more. */
  readonly readmit: () => Promise<unknown>
}

/** A client that comes back with `Last-Event-ID` misses no line. A caller that may not read the log any more gets none. */
function followedLog(
  context: AppContext,
  { siteId, filter, request, readmit }: FollowedLog,
): Response {
  const after = lastEventId(request)
  return eventStream(request, {
    events(signal) {
      // Here and not in the generator: one stream too many is refused at once.
      const batches = context.runtimeLogs.follow(siteId, filter, { after, signal })
      return (async function* events() {
        for await (const batch of batches) {
          await readmit()
          yield batch.map((line) => ({ id: line.logId, event: 'log', data: line }))
        }
      })()
    },
  })
}

function lastEventId(request: Request): string | undefined {
  const id = request.headers.get('last-event-id') ?? ''
  if (id === '') return undefined
  if (!/^\d{1,18}$/.test(id)) throw invalid('Last-Event-ID', 'is not the id of a log line')
  return id
}
