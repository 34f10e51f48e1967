import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { ClosedObject } from '#base/closed-object.ts'
import type { AppContext } from '#context'
import { refuseCoding } from '#http/bodies/content-coding.ts'
import { uploadStream } from '#http/bodies/read-body.ts'
import { SHORT_JSON_BYTES, optionalJsonBody, uploadBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { DeploymentPath, SitePath } from '#http/path-params.ts'
import { siteAccess } from '#http/plugins/site-access.ts'
import {
  BeginDeploymentBody,
  PendingDeployment,
  DeploymentRecord,
  Sha256,
} from '#sites/deployments/model.ts'

import { ACTIVATION_ERRORS } from './activation-errors.ts'

const FilePath = Type.Composite([DeploymentPath, Type.Object({ sha256: Sha256 })])

/** `ref` is a branch, a tag or a commit; the site's own branch when left out. */
const FetchRequest = ClosedObject({ ref: Type.Optional(Type.String({ maxLength: 200 })) })

const DEPLOY = ['deploy'] as const

/** How the operator, or the holder of a deploy token, gives a site its files: announce, upload what is missing, activate. */
export const portalDeploymentRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/deployments' })
    .use(siteAccess(context))
    .post(
      '/',
      async ({ site, by, body }) =>
        context.deployments.begin(site.siteId, {
          source: { type: 'folder' },
          by,
          ...body,
        }),
      {
        siteAccess: DEPLOY,
        summary: 'Create a deployment',
        errors: ['ArtifactDirMismatch', 'InvalidArtifact'],
        changes: { audit: 'staging', effects: [] },
        params: SitePath,
        body: BeginDeploymentBody,
        response: PendingDeployment,
      },
    )
    .post(
      '/fetch',
      async ({ site, by, body: { ref } }) =>
        site.sourceMode === 'SITE_GIT'
          ? context.siteRepositories.deploy(site.siteId, by, ref)
          : context.deployments.fetchExternal(site.siteId, by, ref),
      {
        siteAccess: DEPLOY,
        summary: 'Deploy from the repository of the site',
        errors: [...ACTIVATION_ERRORS, 'RefNotFound', 'SourceUnavailable'],
        changes: { audit: ['deployment.activated'], effects: ['setsSecret?'] },
        requestBody: optionalJsonBody(SHORT_JSON_BYTES),
        params: SitePath,
        body: FetchRequest,
        response: DeploymentRecord,
      },
    )
    .use(pendingDeploymentRoutes(context))

const pendingDeploymentRoutes = (context: AppContext) =>
  new Elysia()
    .use(siteAccess(context))
    .put(
      '/:deploymentId/files/:sha256',
      async ({ site, params, request }) => {
        const { deploymentId, sha256 } = params
        refuseCoding(request)
        const stream = uploadStream(request)
        await context.deployments.putFile(site.siteId, deploymentId, sha256, stream)
        return noContent()
      },
      {
        siteAccess: DEPLOY,
        summary: 'Upload a file of a deployment',
        errors: ['InvalidArtifact', 'ObjectNotFound'],
        changes: { audit: 'staging', effects: [] },
        requestBody: uploadBody(),
        params: FilePath,
        responds: 'no-content',
      },
    )
    .post(
      '/:deploymentId/activate',
      async ({ site, by, params }) =>
        context.deployments.activate(site.siteId, params.deploymentId, by),
      {
        siteAccess: DEPLOY,
        summary: 'Activate a deployment',
        errors: ACTIVATION_ERRORS,
        changes: { audit: ['deployment.activated'], effects: ['setsSecret?'] },
        params: DeploymentPath,
        response: DeploymentRecord,
      },
    )
