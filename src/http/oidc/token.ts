import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { PoolPath } from '#http/path-params.ts'
import { type PoolHttpRequest, publicSite } from '#http/plugins/site.ts'
import type { TokenSet } from '#identity/token-endpoint/model.ts'
import { OAuthError } from '#identity/token-endpoint/oauth-error.ts'

import { clientForm, oauthResponse, requiredField } from './oauth-response.ts'

/** RFC 6749 section 3.2. */
export const tokenRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/oauth2/token' })
    .use(publicSite(context))
    .post(
      '/',
      async ({ poolRequest, request }) =>
        oauthResponse(request, async () => answerOf(await tokensFor(context, poolRequest))),
      {
        openPool: 'The code or the refresh token is the credential',
        changes: { audit: 'page', effects: [] },
        params: PoolPath,
      },
    )

async function tokensFor(context: AppContext, poolRequest: PoolHttpRequest): Promise<TokenSet> {
  const { tokenEndpoint } = context
  const { client, fields } = await clientForm(context, poolRequest)
  const { clientId } = client
  const grantType = requiredField(fields, 'grant_type')
  if (grantType === 'authorization_code') {
    return tokenEndpoint.exchangeCode(poolRequest, {
      clientId,
      code: requiredField(fields, 'code'),
      redirectUri: requiredField(fields, 'redirect_uri'),
      codeVerifier: fields.get('code_verifier'),
    })
  }
  if (grantType === 'refresh_token') {
    const refreshToken = requiredField(fields, 'refresh_token')
    return tokenEndpoint.refresh(poolRequest, {
      clientId,
      refreshToken,
      scope: fields.get('scope'),
    })
  }
  throw new OAuthError(
    'unsupported_grant_type',
    'grant_type takes "authorization_code" and "refresh_token"',
  )
}

const answerOf = (tokens: TokenSet): object => ({
  access_token: tokens.accessToken,
  token_type: 'Bearer',
  expires_in: tokens.expiresInSeconds,
  refresh_token: tokens.refreshToken,
  scope: tokens.scope,
  ...(tokens.idToken !== undefined && { id_token: tokens.idToken }),
})

/** RFC 7009: 200 also for a token that is unknown or another client's, so that nothing is learned about it. */
export const revokeRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/oauth2/revoke' }).use(publicSite(context)).post(
    '/',
    async ({ poolRequest, request }) =>
      oauthResponse(request, async () => {
        const { client, fields } = await clientForm(context, poolRequest)
        const token = requiredField(fields, 'token')
        await context.tokenEndpoint.revoke(poolRequest, { clientId: client.clientId, token })
        // Clients that read JSON fail at an empty body, whatever RFC 7009 says.
        return {}
      }),
    {
      openPool: 'The token to be revoked is the credential',
      changes: { audit: 'page', effects: [] },
      params: PoolPath,
    },
  )
