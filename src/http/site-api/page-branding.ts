import { auditAs } from '#http/audited.ts'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { PageBrandingView, pageBrandingView } from '#http/page-branding-view.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import { SiteBrandingChange } from '#sites/branding/model.ts'

/** The color and the logo of the hosted pages. */
export const pageBrandingRoutes = siteFamily(
  {
    site: '/admin/api/page-branding',
    operator: '/page-branding',
    body: jsonBody(SHORT_JSON_BYTES),
  },
  (routes, context) =>
    routes
      .get('/', async ({ site }) => pageBrandingView(await context.siteBrandings.get(site)), {
        role: 'super-admin',
        summary: 'Get the color and logo of the site’s pages',
        response: PageBrandingView,
      })
      .put(
        '/',
        async ({ site, by, body }) => {
          const audit = auditAs(context, by)
          return pageBrandingView(await context.siteBrandings.change(site, body, audit))
        },
        {
          role: 'super-admin',
          summary: 'Change the color and logo of the site’s pages',
          changes: { audit: ['branding.changed'], effects: [] },
          body: SiteBrandingChange,
          response: PageBrandingView,
        },
      ),
)
