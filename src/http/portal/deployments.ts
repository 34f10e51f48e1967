import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { notFound } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { uploadStream } from '#http/bodies/read-body.ts'
import { uploadBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf } from '#http/page-query.ts'
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
export const portalDeploymentRoutes = (context: AppContext) => {
  const siteIdOf = async ({ siteId }: { siteId: string }): Promise<string> =>
    (await context.sites.find(siteId)).siteId

  return new Elysia({ prefix: '/portal/api/sites/:siteId/deployments' })
    .use(operatorAuth(context))
    .post(
      '/',
      async ({ params, body }) =>
        context.deployments.begin(await siteIdOf(params), { source: { type: 'folder' }, ...body }),
      { operator: true, params: SitePath, body: BeginDeploymentBody, response: PendingDeployment },
    )
    .get(
      '/',
      async ({ params }) => ({
        items: await context.deployments.list(await siteIdOf(params)),
        nextToken: null,
      }),
      { operator: true, params: SitePath, response: PageOf(DeploymentRecord) },
    )
    .post(
      '/fetch',
      async ({ params }) => context.deployments.fetchExternal(await siteIdOf(params)),
      {
        operator: true,
        params: SitePath,
        response: DeploymentRecord,
      },
    )
    .get(
      '/current',
      async ({ params }) => {
        const current = await context.deployments.current(await siteIdOf(params))
        if (!current) throw notFound('Deployment', 'current')
        return current
      },
      { operator: true, params: SitePath, response: DeploymentRecord },
    )
    .get(
      '/:deploymentId',
      async ({ params }) => context.deployments.get(await siteIdOf(params), params.deploymentId),
      { operator: true, params: DeploymentPath, response: DeploymentRecord },
    )
    .put(
      '/:deploymentId/files/:sha256',
      async ({ params, request }) => {
        const { deploymentId, sha256 } = params
        const stream = uploadStream(request)
        await context.deployments.putFile(await siteIdOf(params), deploymentId, sha256, stream)
        return noContent()
      },
      { operator: true, requestBody: uploadBody(), params: FilePath },
    )
    .post(
      '/:deploymentId/activate',
      async ({ params }) =>
        context.deployments.activate(await siteIdOf(params), params.deploymentId),
      { operator: true, params: DeploymentPath, response: DeploymentRecord },
    )
}
