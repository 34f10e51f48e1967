import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { notFound } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { uploadStream } from '#http/bodies/read-body.ts'
import { uploadBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf } from '#http/paging.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import {
  BeginDeploymentBody,
  PendingDeployment,
  DeploymentRecord,
  Sha256,
} from '#sites/deployments/model.ts'

const SitePath = Type.Object({ siteId: Type.String({ maxLength: 253 }) })
const DeploymentPath = Type.Composite([
  SitePath,
  Type.Object({ deploymentId: Type.String({ maxLength: 64 }) }),
])
const FilePath = Type.Composite([DeploymentPath, Type.Object({ sha256: Sha256 })])

/** How the operator gives a site its files: announce, upload what is missing, activate. */
export const portalDeploymentRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/deployments' })
    .use(operatorAuth(context))
    .post(
      '/',
      async ({ site, body }) =>
        context.deployments.begin(site.siteId, { source: { type: 'folder' }, ...body }),
      {
        siteOperator: true,
        params: SitePath,
        body: BeginDeploymentBody,
        response: PendingDeployment,
      },
    )
    .get(
      '/',
      async ({ site }) => ({
        items: await context.deployments.list(site.siteId),
        nextToken: null,
      }),
      { siteOperator: true, params: SitePath, response: PageOf(DeploymentRecord) },
    )
    .post('/fetch', async ({ site }) => context.deployments.fetchExternal(site.siteId), {
      siteOperator: true,
      params: SitePath,
      response: DeploymentRecord,
    })
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
    .put(
      '/:deploymentId/files/:sha256',
      async ({ site, params, request }) => {
        const { deploymentId, sha256 } = params
        const stream = uploadStream(request)
        await context.deployments.putFile(site.siteId, deploymentId, sha256, stream)
        return noContent()
      },
      { siteOperator: true, requestBody: uploadBody(), params: FilePath },
    )
    .post(
      '/:deploymentId/activate',
      async ({ site, params }) => context.deployments.activate(site.siteId, params.deploymentId),
      { siteOperator: true, params: DeploymentPath, response: DeploymentRecord },
    )
