import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { notFound } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { NameText, PoolPath } from '#http/path-params.ts'
import { pictureResponse } from '#http/picture-response.ts'
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
      return pictureResponse(await context.clientRegistrations.logo(site, params.clientId))
    },
    { openPool: 'A picture that anyone sees who comes to sign in', params: LogoPath },
  )
