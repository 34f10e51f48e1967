import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { DefinitionView, IacJobView, SubmittedView, iacJobView } from '#http/admin-data/iac-view.ts'
import { idempotentRequest } from '#http/idempotency.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { checkDefinitionBounds } from '#runtime/definitions/parse.ts'
import { IacRequest, REQUESTED_BY_OPERATOR } from '#runtime/iac/model.ts'

const Id = Type.String({ maxLength: 64, pattern: '^[^\\u0000]*$' })
const JobPath = Type.Composite([SitePath, Type.Object({ jobId: Id })])
const DeploymentPath = Type.Composite([SitePath, Type.Object({ deploymentId: Id })])

/** Infrastructure as code for any site, as its own admins have it under `/admin/data/iac`. */
export const portalIacRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId' })
    .use(operatorAuth(context))
    .post(
      '/iac/jobs',
      async ({ site, request, body }) => {
        checkDefinitionBounds(body.definition)
        const repeat = idempotentRequest(request, 'POST /portal/api/sites/iac/jobs', body)
        const submission = { userId: REQUESTED_BY_OPERATOR, repeat }
        return context.iacSubmissions.submit(site.siteId, body, submission)
      },
      {
        siteOperator: true,
        params: SitePath,
        body: IacRequest,
        response: SubmittedView,
      },
    )
    .get(
      '/iac/jobs/:jobId',
      async ({ site: { siteId }, params }) =>
        iacJobView(
          await context.iacJobs.get(siteId, params.jobId),
          await context.permissionSync.statusOf(siteId),
        ),
      { siteOperator: true, params: JobPath, response: IacJobView },
    )
    .get('/iac/export', async ({ site }) => context.iacJobs.export(site.siteId), {
      siteOperator: true,
      params: SitePath,
      response: DefinitionView,
    })
    .get(
      // What became of the definition that a deployment carries; null for one without.
      '/deployments/:deploymentId/iac-job',
      async ({ site: { siteId }, params }) => {
        const { deploymentId } = await context.deployments.get(siteId, params.deploymentId)
        const found = await context.iacJobs.ofDeployment(siteId, deploymentId)
        if (!found) return { job: null }
        return { job: iacJobView(found, await context.permissionSync.statusOf(siteId)) }
      },
      {
        siteOperator: true,
        params: DeploymentPath,
        response: Type.Object({ job: Type.Union([IacJobView, Type.Null()]) }),
      },
    )
