import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { audited } from '#http/audited.ts'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { PageBrandingView, pageBrandingView } from '#http/page-branding-view.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { SiteBrandingChange } from '#sites/branding/model.ts'

/** The color and the logo of the hosted pages. */
export const pageBrandingRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/page-branding' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .get('/', async ({ site }) => pageBrandingView(await context.siteBrandings.get(site)), {
      role: 'super-admin',
      response: PageBrandingView,
    })
    .put(
      '/',
      async ({ site, by, body }) => {
        const audit = audited(context, by)
        return pageBrandingView(await context.siteBrandings.change(site, body, audit))
      },
      {
        role: 'super-admin',
        changes: { audit: ['branding.changed'], effects: [] },
        body: SiteBrandingChange,
        response: PageBrandingView,
      },
    )
