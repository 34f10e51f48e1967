import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'

import { authority } from './plugins/authority.ts'

const MAX_DOMAIN = 255

/**
 * Whether a proxy may get a certificate for a domain: 200 for a name of a site, 404 for any other. It is what Caddy's `on_demand_tls`
 * asks, and is answered from memory where the site is known. At the operator's listener alone.
 */
export const tlsPermissionRoutes = (context: AppContext) =>
  new Elysia().get(
    '/tls-permission',
    async ({ query: { domain } }) => {
      const site = await context.sites.byAnyHost(domain)
      if (!site) throw new AppError('SiteNotFound', `No site has the domain "${domain}"`)
      return { domain: site.domain }
    },
    {
      query: Type.Object({ domain: Type.String({ minLength: 1, maxLength: MAX_DOMAIN }) }),
      detail: authority('open', 'says of a name that a replica knows whether it is a site'),
    },
  )
