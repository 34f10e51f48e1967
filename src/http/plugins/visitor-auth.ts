import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'

import { admission, authority, routeMacro } from './authority.ts'
import { siteOf } from './site.ts'

/**
 * `visitor: true` on a route: the caller has an access token of the site's data pool, of a recent sign-in where the route has effects.
 * Adds `site` and `signedIn`.
 */
export const visitorAuth = (context: AppContext) =>
  new Elysia().macro({
    ...routeMacro,
    visitor: (_required: true) =>
      admission(
        authority('visitor'),
        jsonBody(SHORT_JSON_BYTES),
        async (request, _params, stepUp) => {
          const site = await siteOf(context, request)
          const bearer = request.headers.get('authorization') ?? undefined
          const signedIn = await context.visitorTokens.verifyFresh(site, bearer)
          stepUp.check(signedIn, context.clock.now())
          return { site, signedIn }
        },
      ),
  })
