import { Elysia } from 'elysia'

import { notFound } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { PageOf } from '#http/paging.ts'
import { DeploymentPath, SitePath } from '#http/path-params.ts'
import { siteAccess } from '#http/plugins/site-access.ts'
import { DeploymentRecord } from '#sites/deployments/model.ts'

const DEPLOY = ['deploy'] as const

/** What a site ran, and runs. */
export const portalDeploymentHistoryRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/deployments' })
    .use(siteAccess(context))
    .get(
      '/',
      async ({ site }) => ({
        items: await context.deployments.list(site.siteId),
        nextToken: null,
      }),
      { siteAccess: DEPLOY, params: SitePath, response: PageOf(DeploymentRecord) },
    )
    .get(
      '/current',
      async ({ site }) => {
        const current = await context.deployments.current(site.siteId)
        if (!current) throw notFound('Deployment', 'current')
        return current
      },
      { siteAccess: DEPLOY, params: SitePath, response: DeploymentRecord },
    )
    .get(
      '/:deploymentId',
      async ({ site, params }) => context.deployments.get(site.siteId, params.deploymentId),
      { siteAccess: DEPLOY, params: DeploymentPath, response: DeploymentRecord },
    )
