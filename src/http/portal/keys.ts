import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { optionalJsonBody } from '#http/bodies/request-body.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { POOL_KINDS } from '#identity/pool-kind.ts'

/** An id, or the site's domain. */
const SitePath = Type.Object({ siteId: Type.String({ maxLength: 253 }) })

const RotateBody = Type.Object(
  {
    pool: Type.Optional(Type.Union([Type.Literal('admin'), Type.Literal('data')])),
    /** `end` after a leak: every token of the pool is refused from now on. */
    oldTokens: Type.Optional(Type.Union([Type.Literal('keep'), Type.Literal('end')])),
  },
  { additionalProperties: false },
)

const RotatedKeys = Type.Object({
  rotated: Type.Array(Type.Object({ userPoolId: Type.String(), kid: Type.String() })),
})

/** New signing keys for one pool of a site, or both; tokens of the old keys verify until they end. */
export const portalKeyRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/keys' }).use(operatorAuth(context)).post(
    '/rotate',
    async ({ params, body }) => {
      const site = await context.sites.find(params.siteId)
      const kinds = body.pool === undefined ? POOL_KINDS : [body.pool]
      const rotated = await context.signingKeys.rotate(site, kinds, body.oldTokens)
      return { rotated: [...rotated] }
    },
    {
      operator: true,
      requestBody: optionalJsonBody(),
      params: SitePath,
      body: RotateBody,
      response: RotatedKeys,
    },
  )
