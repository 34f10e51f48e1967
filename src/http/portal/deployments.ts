import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { uploadStream } from '#http/bodies/read-body.ts'
import { uploadBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { DeploymentPath, SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { OPERATOR_DEPLOYS } from '#sites/deployments/actor.ts'
import {
  BeginDeploymentBody,
  PendingDeployment,
  DeploymentRecord,
  Sha256,
} from '#sites/deployments/model.ts'

const FilePath = Type.Composite([DeploymentPath, Type.Object({ sha256: Sha256 })])

/** How the operator gives a site its files: announce, upload what is missing, activate. */
export const portalDeploymentRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/deployments' })
    .use(operatorAuth(context))
    .post(
      '/',
      async ({ site, body }) =>
        context.deployments.begin(site.siteId, {
          source: { type: 'folder' },
          by: OPERATOR_DEPLOYS,
          ...body,
        }),
      {
        siteOperator: true,
        params: SitePath,
        body: BeginDeploymentBody,
        response: PendingDeployment,
      },
    )
    .post(
      '/fetch',
      async ({ site }) => context.deployments.fetchExternal(site.siteId, OPERATOR_DEPLOYS),
      {
        siteOperator: true,
        params: SitePath,
        response: DeploymentRecord,
      },
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
      async ({ site, params }) =>
        context.deployments.activate(site.siteId, params.deploymentId, OPERATOR_DEPLOYS),
      { siteOperator: true, params: DeploymentPath, response: DeploymentRecord },
    )
