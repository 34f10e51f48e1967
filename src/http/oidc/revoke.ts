import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { publicSite } from '#http/plugins/site.ts'
import { originOf } from '#http/request-origin.ts'

import { clientForm, oauthResponse, requiredField } from './oauth-response.ts'

const PoolPath = Type.Object({ userPoolId: Type.String({ maxLength: 128 }) })

/** RFC 7009: 200 also for a token that is not known, or of another client, so that nothing is learned of it. */
export const revokeRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/oauth2/revoke' }).use(publicSite(context)).post(
    '/',
    async ({ site, params, request }) => {
      const pool = await context.pools.byId(site, params.userPoolId)
      return oauthResponse(request, async () => {
        const { client, fields } = await clientForm(request, pool)
        await context.tokenSets.revoke(site, pool, {
          clientId: client.clientId,
          token: requiredField(fields, 'token'),
          origin: originOf(request),
        })
        return undefined
      })
    },
    { open: 'The token to be revoked is the credential', params: PoolPath },
  )
