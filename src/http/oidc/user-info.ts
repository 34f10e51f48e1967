import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { publicSite } from '#http/plugins/site.ts'
import type { Site } from '#sites/site.ts'

import { oauthAnswer } from './oauth-answer.ts'

const PoolPath = Type.Object({ userPoolId: Type.String({ maxLength: 128 }) })
const OPEN = 'Checks the access token itself, and refuses in the form of RFC 6750'
const BEARER = /^bearer(?: |$)/i

/** OpenID Connect Core section 5.3. */
export const userInfoRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/oauth2/userInfo' })
    .use(publicSite(context))
    .get('/', ({ site, params, request }) => userInfo(context, site, params, request), {
      open: OPEN,
      params: PoolPath,
    })
    .post('/', ({ site, params, request }) => userInfo(context, site, params, request), {
      open: OPEN,
      params: PoolPath,
      parse: 'none',
    })

async function userInfo(
  context: AppContext,
  site: Site,
  { userPoolId }: { readonly userPoolId: string },
  request: Request,
): Promise<Response> {
  const pool = await context.pools.byId(site, userPoolId)
  const authorization = request.headers.get('authorization') ?? ''
  if (!BEARER.test(authorization)) return challenge()
  return oauthAnswer(request, () => context.tokenSets.userInfo(site, pool, authorization))
}

/** To a request that has no token at all: no error code (RFC 6750 section 3.1). */
const challenge = (): Response =>
  new Response(null, {
    status: 401,
    headers: { 'www-authenticate': 'Bearer scope="openid"', 'cache-control': 'no-store' },
  })
