import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { AddressPath } from '#http/path-params.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import { Suppression } from '#mail/sending/model.ts'

/** Addresses that the site sends nothing to. */
export const mailSuppressionRoutes = siteFamily(
  {
    site: '/admin/api/mail-suppressions',
    operator: '/mail-suppressions',
    body: jsonBody(SHORT_JSON_BYTES),
  },
  (routes, context) =>
    routes
      .get(
        '/',
        async ({ site, pageScope, query }) =>
          answerPage(context, { scope: [...pageScope, 'mail-suppressions'], query }, (page) =>
            context.suppressions.list(site.siteId, page),
          ),
        {
          role: 'admin',
          summary: 'List suppressed addresses',
          query: PageQuery,
          response: PageOf(Suppression),
        },
      )
      .delete(
        '/:address',
        async ({ site, by, params }) => {
          await context.suppressions.remove(site.siteId, by, params.address)
          return noContent()
        },
        {
          role: 'admin',
          summary: 'Send to a suppressed address again',
          changes: { audit: ['mail-suppression.removed'], effects: [] },
          params: AddressPath,
          responds: 'no-content',
        },
      ),
)
