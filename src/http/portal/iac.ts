import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { DefinitionView, IacJobView, SubmittedView, iacJobView } from '#http/admin-data/iac-view.ts'
import { idempotentRequest } from '#http/idempotency.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { checkDefinitionBounds } from '#runtime/definitions/parse.ts'
import { IacRequest, REQUESTED_BY_OPERATOR } from '#runtime/iac/model.ts'

/** An id, or the site's domain. */
const SitePath = Type.Object({ siteId: Type.String({ maxLength: 253 }) })
const JobPath = Type.Object({
  siteId: Type.String({ maxLength: 253 }),
  jobId: Type.String({ maxLength: 64, pattern: '^[^\\u0000]*$' }),
})

/** Infrastructure as code for any site, as its own admins have it under `/admin/data/iac`. */
export const portalIacRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/iac' })
    .use(operatorAuth(context))
    .post(
      '/jobs',
      async ({ params, request, body }) => {
        checkDefinitionBounds(body.definition)
        const { siteId } = await context.sites.find(params.siteId)
        const repeat = idempotentRequest(request, 'POST /portal/api/sites/iac/jobs', body)
        return context.iacSubmissions.submit(siteId, body, {
          userId: REQUESTED_BY_OPERATOR,
          repeat,
        })
      },
      { operator: true, params: SitePath, body: IacRequest, response: SubmittedView },
    )
    .get(
      '/jobs/:jobId',
      async ({ params }) => {
        const { siteId } = await context.sites.find(params.siteId)
        const found = await context.iacJobs.get(siteId, params.jobId)
        return iacJobView(found, await context.permissionSync.statusOf(siteId))
      },
      { operator: true, params: JobPath, response: IacJobView },
    )
    .get(
      '/export',
      async ({ params }) =>
        context.iacJobs.export((await context.sites.find(params.siteId)).siteId),
      { operator: true, params: SitePath, response: DefinitionView },
    )
