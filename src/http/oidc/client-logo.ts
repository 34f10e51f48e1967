import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { notFound } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { NameText, PoolPath } from '#http/path-params.ts'
import { publicSite } from '#http/plugins/site.ts'

const LogoPath = Type.Composite([PoolPath, Type.Object({ clientId: NameText })])

/** The pictures that the pages show of registered applications; their addresses change with them. */
export const clientLogoRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/clients' }).use(publicSite(context)).get(
    '/:clientId/logo',
    async ({ poolRequest: { site, pool }, params }) => {
      if (pool.clients.get(params.clientId)?.application?.logoVersion === undefined) {
        throw notFound('Client', params.clientId)
      }
      const { bytes, type } = await context.clientRegistrations.logo(site, params.clientId)
      return new Response(new Uint8Array(bytes), {
        headers: {
          'content-type': type,
          'cache-control': 'public, max-age=31536000, immutable',
          'content-security-policy': "default-src 'none'; sandbox",
          'x-content-type-options': 'nosniff',
          'cross-origin-resource-policy': 'same-origin',
        },
      })
    },
    { openPool: 'A picture that anyone sees who comes to sign in', params: LogoPath },
  )
