import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { linkCookie } from '#http/oidc/provider.ts'
import { publicSite } from '#http/plugins/site.ts'
import { visitorAuth } from '#http/plugins/visitor-auth.ts'
import { originOf } from '#http/request-origin.ts'
import { AuthMethodsView } from '#identity/federation/auth-methods.ts'
import { LinkRequest } from '#identity/federation/links.ts'
import { BasicVisitorDiscovery, VisitorDiscovery } from '#identity/pools/model.ts'
import { requireRecentSignIn } from '#identity/recent-sign-in.ts'

const ok = <Data>(data: Data) => ({ ok: true as const, data })

const Ok = <Data extends ReturnType<typeof Type.Object>>(data: Data) =>
  Type.Object({ ok: Type.Literal(true), data })

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
    .post(
      '/auth/providers/google/link/start',
      async ({ site, signedIn, body, set }) => {
        const { bindingToken, ...link } = await context.links.start(site, signedIn, body)
        set.headers['cache-control'] = 'no-store'
        set.headers['set-cookie'] = linkCookie(signedIn.pool, { ...link, bindingToken })
        return ok(link)
      },
      {
        visitor: true,
        body: LinkRequest,
        response: Ok(
          Type.Object({
            authorizeUrl: Type.String(),
            clientId: Type.String(),
            expiresAt: Type.Date(),
          }),
        ),
      },
    )
    .post(
      '/auth/password/add',
      async ({ site, signedIn, body, request }) => {
        requireRecentSignIn(signedIn, context.clock.now())
        const { pool, sub } = signedIn
        const addition = { sub, password: body.password }
        await context.ownPasswords.add({ site, pool, origin: originOf(request) }, addition)
        return ok({ passwordEnabled: true as const })
      },
      {
        visitor: true,
        // Its length is the policy's to judge, with words for people.
        body: Type.Object(
          { password: Type.String({ maxLength: 4096 }) },
          { additionalProperties: false },
        ),
        response: Ok(Type.Object({ passwordEnabled: Type.Literal(true) })),
      },
    )
