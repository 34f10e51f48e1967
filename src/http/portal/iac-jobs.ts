import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { IacJobView, iacJobView } from '#http/admin-data/iac-view.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'

const DeploymentPath = Type.Object({
  siteId: Type.String({ maxLength: 253 }),
  deploymentId: Type.String({ maxLength: 64, pattern: '^[^\\u0000]*$' }),
})

/** What became of the definition that a deployment carries; null for one without. */
export const portalIacJobRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/deployments/:deploymentId' })
    .use(operatorAuth(context))
    .get(
      '/iac-job',
      async ({ params }) => {
        const { siteId } = await context.sites.find(params.siteId)
        const { deploymentId } = await context.deployments.get(siteId, params.deploymentId)
        const found = await context.iacJobs.ofDeployment(siteId, deploymentId)
        if (!found) return { job: null }
        return { job: iacJobView(found, await context.permissionSync.statusOf(siteId)) }
      },
      {
        operator: true,
        params: DeploymentPath,
        response: Type.Object({ job: Type.Union([IacJobView, Type.Null()]) }),
      },
    )
