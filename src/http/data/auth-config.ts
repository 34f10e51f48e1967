import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { publicSite } from '#http/plugins/site.ts'
import { BasicVisitorDiscovery, VisitorDiscovery } from '#identity/pools/model.ts'

const ok = <Data>(data: Data) => ({ ok: true as const, data })

/** How visitors of the site sign in. */
export const dataAuthConfigRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/data' })
    .use(publicSite(context))
    .get('/auth/config', async ({ site }) => ok(await context.pools.discovery(site)), {
      open: 'Read before sign-in',
      response: Type.Object({ ok: Type.Literal(true), data: VisitorDiscovery }),
    })
    .get('/public/auth/config', async ({ site }) => ok(await context.pools.basicDiscovery(site)), {
      open: 'Read before sign-in',
      response: Type.Object({ ok: Type.Literal(true), data: BasicVisitorDiscovery }),
    })
