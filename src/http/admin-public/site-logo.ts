import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { pictureResponse } from '#http/picture-response.ts'
import { publicSite } from '#http/plugins/site.ts'

const LogoPath = Type.Object({ version: Type.String({ pattern: '^[0-9a-f]{16}$' }) })

/** The picture that the hosted pages show of their site. */
export const siteLogoRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/public/logo' })
    .use(publicSite(context))
    .get(
      '/:version',
      async ({ site, params }) =>
        pictureResponse(await context.siteBrandings.logo(site, params.version)),
      {
        open: 'A picture that anyone sees who comes to sign in',
        summary: 'Get the logo of the site',
        errors: ['RouteNotFound'],
        params: LogoPath,
        responds: 'picture',
      },
    )
