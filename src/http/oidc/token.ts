import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { PoolPath } from '#http/path-params.ts'
import { publicSite } from '#http/plugins/site.ts'
import { originOf } from '#http/request-origin.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { TokenSet } from '#identity/token-sets/model.ts'
import { OAuthError } from '#identity/token-sets/oauth-error.ts'
import type { Site } from '#sites/site.ts'

import { type ClientForm, clientForm, oauthResponse, requiredField } from './oauth-response.ts'

/** RFC 6749 section 3.2. */
export const tokenRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/oauth2/token' })
    .use(publicSite(context))
    .post(
      '/',
      async ({ site, pool, request }) =>
        oauthResponse(request, async () =>
          answerOf(await tokensFor(context, { site, pool, request })),
        ),
      { openPool: 'The code or the refresh token is the credential', params: PoolPath },
    )

interface Asking {
  readonly site: Site
  readonly pool: Pool
  readonly request: Request
}

async function tokensFor(context: AppContext, asking: Asking): Promise<TokenSet> {
  const form = await clientForm(asking.request, asking.pool)
  const grantType = requiredField(form.fields, 'grant_type')
  if (grantType === 'authorization_code') return ofCode(context, asking, form)
  if (grantType === 'refresh_token') return ofRefreshToken(context, asking, form)
  throw new OAuthError(
    'unsupported_grant_type',
    'grant_type takes "authorization_code" and "refresh_token"',
  )
}

const ofCode = (
  { tokenSets }: AppContext,
  { site, pool, request }: Asking,
  { client, fields }: ClientForm,
): Promise<TokenSet> =>
  tokenSets.exchangeCode(site, pool, {
    clientId: client.clientId,
    code: requiredField(fields, 'code'),
    redirectUri: requiredField(fields, 'redirect_uri'),
    codeVerifier: fields.get('code_verifier'),
    origin: originOf(request),
  })

const ofRefreshToken = (
  { tokenSets }: AppContext,
  { site, pool, request }: Asking,
  { client, fields }: ClientForm,
): Promise<TokenSet> =>
  tokenSets.refresh(site, pool, {
    clientId: client.clientId,
    refreshToken: requiredField(fields, 'refresh_token'),
    scope: fields.get('scope'),
    origin: originOf(request),
  })

const answerOf = (tokens: TokenSet): object => ({
  access_token: tokens.accessToken,
  token_type: 'Bearer',
  expires_in: tokens.expiresInSeconds,
  refresh_token: tokens.refreshToken,
  scope: tokens.scope,
  ...(tokens.idToken !== undefined && { id_token: tokens.idToken }),
})

/** RFC 7009: 200 also for a token that is not known, or of another client, so that nothing is learned of it. */
export const revokeRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/oauth2/revoke' }).use(publicSite(context)).post(
    '/',
    async ({ site, pool, request }) =>
      oauthResponse(request, async () => {
        const { client, fields } = await clientForm(request, pool)
        await context.tokenSets.revoke(site, pool, {
          clientId: client.clientId,
          token: requiredField(fields, 'token'),
          origin: originOf(request),
        })
        return undefined
      }),
    { openPool: 'The token to be revoked is the credential', params: PoolPath },
  )
