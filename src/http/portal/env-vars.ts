import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { EnvVarView, SavedView } from '#http/admin-data/env-vars.ts'
import { audited } from '#http/audited.ts'
import { PageOf, PageQuery, answerList } from '#http/paging.ts'
import { SitePath } from '#http/path-params.ts'
import { siteAccess } from '#http/plugins/site-access.ts'

const IAC = ['iac'] as const

/** The environment of a site's functions, for the operator and holders of deploy tokens that may apply definitions. */
export const portalEnvVarRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/env-vars' })
    .use(siteAccess(context))
    .get(
      '/',
      async ({ site: { siteId }, query }) =>
        answerList(
          context,
          { scope: [siteId, 'portal', 'env-vars'], query },
          await context.envVars.list(siteId),
          ({ name }) => name,
        ),
      { siteAccess: IAC, params: SitePath, query: PageQuery, response: PageOf(EnvVarView) },
    )
    .put(
      '/',
      async ({ site: { siteId }, by, body }) => {
        const audit = audited(context, by)
        const { saved, permissionsSync } = await context.envVars.put(siteId, body, audit)
        return { items: saved.map(({ name, secret }) => ({ name, secret })), permissionsSync }
      },
      {
        siteAccess: IAC,
        changes: { audit: ['env-vars.changed'], effects: ['setsSecret'] },
        params: SitePath,
        body: Type.Unknown(),
        response: SavedView,
      },
    )
