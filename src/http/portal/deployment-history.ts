import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { notFound } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import type { AppContext } from '#context'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { DeploymentPath, SitePath } from '#http/path-params.ts'
import { siteAccess } from '#http/plugins/site-access.ts'
import { DeploymentChanges } from '#sites/deployments/deployment-changes.ts'
import { DeploymentRecord } from '#sites/deployments/model.ts'

import { ACTIVATION_ERRORS } from './activation-errors.ts'

const DEPLOY = ['deploy'] as const
const Id = Type.String({ maxLength: 64, pattern: '^[^\\u0000]*$' })

/** Without a body: what ran before the current one. */
const RollbackBody = ClosedObject({
  deploymentId: Type.Optional(Id),
  /** The deployment that the caller takes for the current one. */
  from: Type.Optional(Id),
})

/** What a site ran and runs, and the way back. */
export const portalDeploymentHistoryRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/deployments' })
    .use(siteAccess(context))
    .get(
      '/',
      async ({ site: { siteId }, query }) =>
        answerPage(context, { scope: [siteId, 'deployments'], query }, (page) =>
          context.deploymentHistory.list(siteId, page),
        ),
      {
        siteAccess: DEPLOY,
        summary: 'List deployments',
        params: SitePath,
        query: PageQuery,
        response: PageOf(DeploymentRecord),
      },
    )
    .get(
      '/current',
      async ({ site }) => {
        const current = await context.deploymentHistory.current(site.siteId)
        if (!current) throw notFound('Deployment', 'current')
        return current
      },
      {
        siteAccess: DEPLOY,
        summary: 'Get the current deployment',
        errors: ['DeploymentNotFound'],
        params: SitePath,
        response: DeploymentRecord,
      },
    )
    .get(
      '/:deploymentId',
      async ({ site, params }) => context.deploymentHistory.get(site.siteId, params.deploymentId),
      {
        siteAccess: DEPLOY,
        summary: 'Get a deployment',
        params: DeploymentPath,
        response: DeploymentRecord,
      },
    )
    .get(
      '/:deploymentId/changes',
      async ({ site, params }) =>
        context.deploymentHistory.changes(site.siteId, params.deploymentId),
      {
        siteAccess: DEPLOY,
        summary: 'List the changes of a deployment',
        params: DeploymentPath,
        response: DeploymentChanges,
      },
    )
    .use(rollbackRoutes(context))

const rollbackRoutes = (context: AppContext) =>
  new Elysia()
    .use(siteAccess(context))
    .post(
      '/rollback',
      async ({ site, by, body }) => context.rollbacks.rollBack(site.siteId, { ...body, by }),
      {
        siteAccess: DEPLOY,
        summary: 'Go back to an earlier deployment',
        errors: [
          ...ACTIVATION_ERRORS,
          'DeploymentAlreadyCurrent',
          'DeploymentNotFound',
          'NoEarlierDeployment',
        ],
        changes: { audit: ['deployment.activated'], effects: ['setsSecret?'] },
        params: SitePath,
        body: Type.Optional(RollbackBody),
        response: DeploymentRecord,
      },
    )
