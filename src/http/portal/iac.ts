import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { actorId } from '#base/actor.ts'
import { noStepUp } from '#base/effects.ts'
import type { AppContext } from '#context'
import { DefinitionView, IacJobView, SubmittedView, iacJobView } from '#http/admin-data/iac-view.ts'
import { audited, noteWho } from '#http/audited.ts'
import { definitionBody } from '#http/bodies/request-body.ts'
import { idempotentRequest } from '#http/idempotency.ts'
import { SitePath } from '#http/path-params.ts'
import { siteAccess } from '#http/plugins/site-access.ts'
import { checkDefinitionBounds } from '#runtime/definitions/parse.ts'
import { IacRequest } from '#runtime/iac/model.ts'

const Id = Type.String({ maxLength: 64, pattern: '^[^\\u0000]*$' })
const JobPath = Type.Composite([SitePath, Type.Object({ jobId: Id })])
const DeploymentPath = Type.Composite([SitePath, Type.Object({ deploymentId: Id })])

const IAC = ['iac'] as const

/** Infrastructure as code for any site, for the operator and holders of deploy tokens, as its own admins have it under `/admin/data/iac`. */
export const portalIacRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId' })
    .use(siteAccess(context))
    .post(
      '/iac/jobs',
      async ({ site, by, request, body }) => {
        checkDefinitionBounds(body.definition)
        const scope = `POST /portal/api/sites/iac/jobs ${actorId(by)}`
        const repeat = idempotentRequest(request, scope, body)
        const audit = audited(context, by)
        const sender = { userId: actorId(by), repeat, stepUp: noStepUp, audit }
        return context.iacSubmissions.submit(site.siteId, body, sender)
      },
      {
        siteAccess: IAC,
        changes: { audit: ['definition.submitted', 'definition.saved'], effects: ['setsSecret?'] },
        requestBody: definitionBody(),
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
      { siteAccess: IAC, params: JobPath, response: IacJobView },
    )
    .get(
      '/iac/export',
      async ({ site, by }) => {
        await noteWho(context, site.siteId, by, { event: 'definition.exported' })
        return context.iacJobs.export(site.siteId)
      },
      { siteAccess: IAC, params: SitePath, response: DefinitionView },
    )
    .get(
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
        params: DeploymentPath,
        response: Type.Object({ job: Type.Union([IacJobView, Type.Null()]) }),
      },
    )
