import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { publicSite } from '#http/plugins/site.ts'
import { BootstrapConfig } from '#identity/pools/model.ts'

/** What an admin application needs before anyone has signed in. */
export const adminConfigRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/public/config' })
    .use(publicSite(context))
    .get('/', ({ site }) => context.pools.bootstrap(site), {
      open: 'Read before sign-in',
      summary: 'Get what an admin application needs before a sign-in',
      response: BootstrapConfig,
    })
