import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import { invalid } from '#base/app-error.ts'
import type { Page } from '#base/page.ts'
import type { AppContext } from '#context'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { NameText } from '#http/path-params.ts'
import { admitAdmin, adminAuth } from '#http/plugins/admin-auth.ts'
import { LogRecord, parseFilter } from '#runtime/logs/model.ts'

import { logStream } from './log-stream.ts'

const Filter = t.Object({
  operation: t.Optional(NameText),
  level: t.Optional(t.String({ maxLength: 16 })),
  requestId: t.Optional(NameText),
  since: t.Optional(t.String({ maxLength: 40 })),
  until: t.Optional(t.String({ maxLength: 40 })),
  follow: t.Optional(t.String({ maxLength: 5 })),
})

/** What site code printed and what ended its calls: newest first, or live as server-sent events. */
export const logRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/logs' }).use(adminAuth(context)).get(
    '/',
    async ({ site, query, request }) => {
      const filter = parseFilter(query)
      if (isFollowed(query.follow, request)) {
        const bearer = request.headers.get('authorization')
        return logStream(request, {
          follow: (options) => context.runtimeLogs.follow(site.siteId, filter, options),
          admit: () => admitAdmin(context, site, { bearer, least: 'admin' }),
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
      query: t.Composite([Filter, PageQuery]),
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
