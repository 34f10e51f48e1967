import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { PermissionsSyncView } from '#http/admin-data/views.ts'
import { SitePath } from '#http/path-params.ts'
import { siteAccess } from '#http/plugins/site-access.ts'

const SiteRuntime = Type.Object({
  siteId: Type.String(),
  domain: Type.String(),
  permissionsSync: PermissionsSyncView,
})

/** How far the published runtime of a site is, for a client that waits for its deployment. */
export const portalSiteRuntimeRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/runtime' }).use(siteAccess(context)).get(
    '/',
    async ({ site: { siteId, domain } }) => ({
      siteId,
      domain,
      permissionsSync: await context.permissionSync.statusOf(siteId),
    }),
    {
      siteAccess: ['deploy', 'iac'],
      summary: 'Get the state of a site’s runtime',
      params: SitePath,
      response: SiteRuntime,
    },
  )
