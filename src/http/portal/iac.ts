import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { SitePath } from '#http/path-params.ts'
import { siteAccess } from '#http/plugins/site-access.ts'
import { IacJobView, iacJobView } from '#http/site-api/iac-view.ts'

const Id = Type.String({ maxLength: 64, pattern: '^[^\\u0000]*$' })
const DeploymentPath = Type.Composite([SitePath, Type.Object({ deploymentId: Id })])

/** What becomes of the definition that a deployment carries. */
export const portalIacRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId' }).use(siteAccess(context)).get(
    // What became of the definition that a deployment carries; null for one without.
    '/deployments/:deploymentId/iac-job',
    async ({ site: { siteId }, params }) => {
      const { deploymentId } = await context.deploymentHistory.get(siteId, params.deploymentId)
      const found = await context.iacJobs.ofDeployment(siteId, deploymentId)
      if (!found) return { job: null }
      return { job: iacJobView(found, await context.permissionSync.statusOf(siteId)) }
    },
    {
      siteAccess: ['deploy', 'iac'],
      summary: 'Get the definition job of a deployment',
      params: DeploymentPath,
      response: Type.Object({ job: Type.Union([IacJobView, Type.Null()]) }),
    },
  )
