import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import type { Page } from '#base/page.ts'
import type { AppContext } from '#context'
import { Followed, LogFilterQuery, followedLog, isFollowed } from '#http/admin-data/logs.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { SitePath } from '#http/path-params.ts'
import { siteAccess, siteAdmission } from '#http/plugins/site-access.ts'
import { LogRecord, parseFilter } from '#runtime/logs/model.ts'

const LOGS = ['logs'] as const

/** What site code printed and what ended its calls, as the site's own admins read it: newest first, or live. */
export const portalLogRoutes = (context: AppContext) => {
  const admit = siteAdmission(context)
  return new Elysia({ prefix: '/portal/api/sites/:siteId/logs' }).use(siteAccess(context)).get(
    '/',
    async ({ site: { siteId }, request, params, query }) => {
      const { limit: _limit, nextToken: _nextToken, follow, ...filters } = query
      if (isFollowed(follow, request)) {
        const readmit = () => admit(LOGS, request, params)
        return followedLog(context, { siteId, filter: parseFilter(filters), request, readmit })
      }
      const scope = [siteId, 'portal', 'logs', JSON.stringify(filters)]
      return answerPage(context, { scope, query }, (page) =>
        context.runtimeLogs.list(siteId, parseFilter(filters), page),
      )
    },
    {
      siteAccess: LOGS,
      params: SitePath,
      query: t.Composite([LogFilterQuery, Followed, PageQuery]),
      // Elysia leaves a Response, here the stream, unchecked.
      response: Type.Unsafe<Page<LogRecord> | Response>(PageOf(LogRecord)),
      responds: 'events',
    },
  )
}
