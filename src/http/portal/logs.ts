import { Elysia, t } from 'elysia'

import type { AppContext } from '#context'
import { LogFilterQuery } from '#http/admin-data/logs.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { SitePath } from '#http/path-params.ts'
import { siteAccess } from '#http/plugins/site-access.ts'
import { LogRecord, parseFilter } from '#runtime/logs/model.ts'

/** What site code printed and what ended its calls, newest first, as the site's own admins read it. */
export const portalLogRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/logs' }).use(siteAccess(context)).get(
    '/',
    async ({ site: { siteId }, query }) => {
      const { limit: _limit, nextToken: _nextToken, ...filters } = query
      const scope = [siteId, 'portal', 'logs', JSON.stringify(filters)]
      return answerPage(context, { scope, query }, (page) =>
        context.runtimeLogs.list(siteId, parseFilter(filters), page),
      )
    },
    {
      siteAccess: ['logs'],
      params: SitePath,
      query: t.Composite([LogFilterQuery, PageQuery]),
      response: PageOf(LogRecord),
    },
  )
