import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { PoolPath } from '#http/path-params.ts'
import { publicSite } from '#http/plugins/site.ts'
import { JwksDocument } from '#identity/keys/model.ts'

import { DiscoveryDocument, discoveryDocument } from './discovery-document.ts'

/** Any page may read these. Caches may keep a key set for a minute only, because keys are rotated. */
const PUBLISHED = { 'access-control-allow-origin': '*' }
const DISCOVERY_HEADERS = { ...PUBLISHED, 'cache-control': 'public, max-age=300' }
const JWKS_HEADERS = { ...PUBLISHED, 'cache-control': 'public, max-age=60' }

/** The two documents from which any OpenID Connect client learns how to verify a pool's tokens. */
export const wellKnownRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/.well-known' })
    .use(publicSite(context))
    .get(
      '/openid-configuration',
      async ({ poolRequest: { pool }, set }) => {
        Object.assign(set.headers, DISCOVERY_HEADERS)
        return discoveryDocument(pool)
      },
      {
        openPool: 'Public by its nature: OpenID Connect Discovery',
        params: PoolPath,
        response: DiscoveryDocument,
      },
    )
    .get(
      '/jwks.json',
      async ({ poolRequest: { site, pool }, set }) => {
        const keys = await context.signingKeys.jwks(site, pool.userPoolId)
        Object.assign(set.headers, JWKS_HEADERS)
        return keys
      },
      { openPool: 'Public keys', params: PoolPath, response: JwksDocument },
    )
