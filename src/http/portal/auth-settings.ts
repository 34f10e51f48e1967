import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { originOf } from '#http/request-origin.ts'
import { AuthChange, AuthView } from '#identity/pools/auth-change.ts'

/** An id, or the site's domain. */
const SitePath = Type.Object({ siteId: Type.String({ maxLength: 253 }) })

/** How a site's two pools take sign-ups and passwords, and where their clients may return to. */
export const portalAuthSettingsRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/auth' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ params }) => context.authSettings.get(await context.sites.find(params.siteId)),
      { operator: true, params: SitePath, response: AuthView },
    )
    .patch(
      '/',
      async ({ params, body, request }) => {
        const site = await context.sites.find(params.siteId)
        return context.authSettings.change(site, body, originOf(request))
      },
      { operator: true, params: SitePath, body: AuthChange, response: AuthView },
    )
