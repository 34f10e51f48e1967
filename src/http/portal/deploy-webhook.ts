import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { CreatedWebhook } from '#identity/deploy-webhooks/deploy-webhooks.ts'

/** The secret with which the forge of a site's external repository reports pushes. */
export const portalDeployWebhookRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/deploy-webhook' })
    .use(operatorAuth(context))
    .put(
      '/',
      async ({ site, request }) => context.deployWebhooks.create(site, operatorAt(request)),
      {
        siteOperator: true,
        summary: 'Set up the deploy webhook',
        changes: { audit: ['deploy-webhook.created'], effects: ['setsSecret'] },
        params: SitePath,
        response: CreatedWebhook,
      },
    )
    .delete(
      '/',
      async ({ site, request }) => {
        await context.deployWebhooks.end(site, operatorAt(request))
        return noContent()
      },
      {
        siteOperator: true,
        summary: 'Delete the deploy webhook',
        errors: ['DeployWebhookNotFound'],
        changes: { audit: ['deploy-webhook.ended'], effects: [] },
        params: SitePath,
        responds: 'no-content',
      },
    )
