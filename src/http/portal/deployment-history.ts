import { Elysia } from 'elysia'

import { notFound } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { PageOf } from '#http/paging.ts'
import { DeploymentPath, SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { DeploymentRecord } from '#sites/deployments/model.ts'

/** What a site ran, and runs. */
export const portalDeploymentHistoryRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/deployments' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site }) => ({
        items: await context.deployments.list(site.siteId),
        nextToken: null,
      }),
      { siteOperator: true, params: SitePath, response: PageOf(DeploymentRecord) },
    )
    .get(
      '/current',
      async ({ site }) => {
        const current = await context.deployments.current(site.siteId)
        if (!current) throw notFound('Deployment', 'current')
        return current
      },
      { siteOperator: true, params: SitePath, response: DeploymentRecord },
    )
    .get(
      '/:deploymentId',
      async ({ site, params }) => context.deployments.get(site.siteId, params.deploymentId),
      { siteOperator: true, params: DeploymentPath, response: DeploymentRecord },
    )
