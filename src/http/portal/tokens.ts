import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { EmailAddress } from '#identity/email.ts'

/** An id, or the site's domain. */
const SitePath = Type.Object({ siteId: Type.String({ maxLength: 253 }) })

const MintBody = Type.Object(
  {
    user: EmailAddress,
    pool: Type.Optional(Type.Union([Type.Literal('admin'), Type.Literal('data')])),
    use: Type.Optional(Type.Union([Type.Literal('access'), Type.Literal('id')])),
    groups: Type.Optional(
      Type.Array(Type.String({ pattern: '^[^\\s\\u0000-\\u001f\\u007f]{1,128}$' }), {
        maxItems: 25,
        uniqueItems: true,
      }),
    ),
  },
  { additionalProperties: false },
)

const MintedToken = Type.Object({ token: Type.String(), expiresAt: Type.String() })

/** `croft token`: a token of a site's user without a sign-in. */
export const portalTokenRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/tokens' }).use(operatorAuth(context)).post(
    '/',
    async ({ params, body, set }) => {
      const site = await context.sites.find(params.siteId)
      const { token, expiresAt } = await context.tokenMint.mint(site, {
        user: body.user,
        pool: body.pool ?? 'admin',
        use: body.use ?? 'access',
        groups: body.groups ?? [],
      })
      set.headers['cache-control'] = 'no-store'
      return { token, expiresAt: expiresAt.toISOString() }
    },
    { operator: true, params: SitePath, body: MintBody, response: MintedToken },
  )
