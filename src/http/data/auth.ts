import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { publicSite } from '#http/plugins/site.ts'
import { visitorAuth } from '#http/plugins/visitor-auth.ts'
import { AuthMethodsView } from '#identity/federation/auth-methods.ts'
import { BasicVisitorDiscovery, VisitorDiscovery } from '#identity/pools/model.ts'

import { Ok, ok } from './auth-response.ts'

/** How visitors of the site sign in, how one of them can, and how they add to that. */
export const dataAuthRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/data' })
    .use(publicSite(context))
    .use(visitorAuth(context))
    .get('/auth/config', async ({ site }) => ok(await context.pools.discovery(site)), {
      open: 'Read before sign-in',
      response: Ok(VisitorDiscovery),
    })
    .get('/public/auth/config', async ({ site }) => ok(await context.pools.basicDiscovery(site)), {
      open: 'Read before sign-in',
      response: Ok(BasicVisitorDiscovery),
    })
    .get(
      '/auth/methods',
      async ({ site, signedIn, set }) => {
        set.headers['cache-control'] = 'no-store'
        return ok(await context.authMethods.of(site, signedIn))
      },
      { visitor: true, response: Ok(AuthMethodsView) },
    )
