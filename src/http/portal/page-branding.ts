import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { audited } from '#http/audited.ts'
import { operatorAt } from '#http/operator-at.ts'
import { PageBrandingView, pageBrandingView } from '#http/page-branding-view.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { SiteBrandingChange } from '#sites/branding/model.ts'

/** The color and the logo of a site's hosted pages. */
export const portalPageBrandingRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/page-branding' })
    .use(operatorAuth(context))
    .get('/', async ({ site }) => pageBrandingView(await context.siteBrandings.get(site)), {
      siteOperator: true,
      params: SitePath,
      response: PageBrandingView,
    })
    .put(
      '/',
      async ({ site, request, body }) => {
        const audit = audited(context, operatorAt(request))
        return pageBrandingView(await context.siteBrandings.change(site, body, audit))
      },
      {
        siteOperator: true,
        changes: { audit: ['branding.changed'], effects: [] },
        params: SitePath,
        body: SiteBrandingChange,
        response: PageBrandingView,
      },
    )
