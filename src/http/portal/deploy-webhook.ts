import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { originOf } from '#http/request-origin.ts'
import { CreatedWebhook } from '#identity/deploy-webhooks/service.ts'
import { OPERATOR } from '#identity/security-events/model.ts'

/** The secret with which the forge of a site's external repository tells of pushes. */
export const portalDeployWebhookRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/deploy-webhook' })
    .use(operatorAuth(context))
    .put(
      '/',
      async ({ site, request, set }) => {
        set.headers['cache-control'] = 'no-store'
        return context.deployWebhooks.create(site, editorAt(request))
      },
      { siteOperator: true, params: SitePath, response: CreatedWebhook },
    )
    .delete(
      '/',
      async ({ site, request }) => {
        await context.deployWebhooks.end(site, editorAt(request))
        return noContent()
      },
      { siteOperator: true, params: SitePath },
    )

const editorAt = (request: Request) => ({ actor: OPERATOR, origin: originOf(request) })
