import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { linkCookie } from '#http/oidc/provider-redirect.ts'
import { visitorAuth } from '#http/plugins/visitor-auth.ts'
import { originOf } from '#http/request-origin.ts'
import { AuthMethodsView } from '#identity/federation/auth-methods.ts'
import { LinkRequest } from '#identity/federation/link-request.ts'
import { requireRecentSignIn } from '#identity/federation/recent-sign-in.ts'

const ok = <Data>(data: Data) => ({ ok: true as const, data })
const Ok = <Data extends ReturnType<typeof Type.Object>>(data: Data) =>
  Type.Object({ ok: Type.Literal(true), data })

/** How a visitor can sign in, and how they add to that. */
export const dataAuthMethodRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/data/auth' })
    .use(visitorAuth(context))
    .get(
      '/methods',
      async ({ site, signedIn, set }) => {
        set.headers['cache-control'] = 'no-store'
        return ok(await context.authMethods.of(site, signedIn))
      },
      { visitor: true, response: Ok(AuthMethodsView) },
    )
    .post(
      '/providers/google/link/start',
      async ({ site, signedIn, body, set }) => {
        const { bindingToken, ...link } = await context.links.start(site, signedIn, body)
        set.headers['cache-control'] = 'no-store'
        set.headers['set-cookie'] = linkCookie(signedIn.pool, { ...link, bindingToken })
        return ok({ ...link, expiresAt: link.expiresAt.toISOString() })
      },
      {
        visitor: true,
        body: LinkRequest,
        response: Ok(
          Type.Object({
            authorizeUrl: Type.String(),
            clientId: Type.String(),
            expiresAt: Type.String(),
          }),
        ),
      },
    )
    .post(
      '/password/add',
      async ({ site, signedIn, body, request }) => {
        requireRecentSignIn(signedIn, context.clock.now())
        const { pool, sub } = signedIn
        const addition = { sub, password: body.password }
        await context.ownPasswords.add(site, pool, addition, originOf(request))
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
