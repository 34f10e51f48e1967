import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { PageOf } from '#http/page-query.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { GoogleInput, ProviderRecord } from '#identity/federation/model.ts'

/** An id, or the site's domain. */
const SitePath = Type.Object({ siteId: Type.String({ maxLength: 253 }) })

/** Providers that a site's visitors may sign in with. The client secret goes in and never comes out. */
export const portalProviderRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/auth/providers' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ params }) => {
        const site = await context.sites.find(params.siteId)
        return { items: [...(await context.providers.list(site))], nextToken: null }
      },
      { operator: true, params: SitePath, response: PageOf(ProviderRecord) },
    )
    .put(
      '/google',
      async ({ params, body }) =>
        context.providers.configureGoogle(await context.sites.find(params.siteId), body),
      { operator: true, params: SitePath, body: GoogleInput, response: ProviderRecord },
    )
    .delete(
      '/google',
      async ({ params }) => {
        await context.providers.removeGoogle(await context.sites.find(params.siteId))
        return noContent()
      },
      { operator: true, params: SitePath },
    )
