import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { optionalJsonBody } from '#http/bodies/request-body.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { EmailAddress } from '#identity/email.ts'
import { POOL_KINDS } from '#identity/pool-kind.ts'

const PoolKindName = Type.Union([Type.Literal('admin'), Type.Literal('data')])

const MintBody = Type.Object(
  {
    user: EmailAddress,
    pool: Type.Optional(PoolKindName),
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

const MintedToken = Type.Object({ token: Type.String(), expiresAt: Type.Date() })

const RotateBody = Type.Object(
  {
    pool: Type.Optional(PoolKindName),
    /** `end` after a leak: every token of the pool is refused from now on. */
    oldTokens: Type.Optional(Type.Union([Type.Literal('keep'), Type.Literal('end')])),
  },
  { additionalProperties: false },
)

const RotatedKeys = Type.Object({
  rotated: Type.Array(Type.Object({ userPoolId: Type.String(), kid: Type.String() })),
})

/**
 * `croft token`: a token of a site's user without a sign-in. And new signing keys for one pool of a site, or both; tokens of
 * the old keys verify until they end.
 */
export const portalTokenRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId' })
    .use(operatorAuth(context))
    .post(
      '/tokens',
      async ({ site, body }) =>
        context.tokenMint.mint(site, {
          user: body.user,
          pool: body.pool ?? 'admin',
          use: body.use ?? 'access',
          groups: body.groups ?? [],
        }),
      {
        siteOperator: true,
        summary: 'Mint an access token',
        errors: ['UserDisabled', 'UserNotFound'],
        changes: { audit: ['token.minted'], effects: ['setsSecret'] },
        params: SitePath,
        body: MintBody,
        response: MintedToken,
      },
    )
    .post(
      '/keys/rotate',
      async ({ site, body }) => {
        const kinds = body.pool === undefined ? POOL_KINDS : [body.pool]
        return { rotated: [...(await context.signingKeys.rotate(site, kinds, body.oldTokens))] }
      },
      {
        siteOperator: true,
        summary: 'Rotate the signing keys of a site',
        changes: { audit: ['keys.rotated'], effects: ['setsSecret'] },
        requestBody: optionalJsonBody(),
        params: SitePath,
        body: RotateBody,
        response: RotatedKeys,
      },
    )
