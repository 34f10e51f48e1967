import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { AddressPath } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { Suppression } from '#mail/sending/model.ts'

/** Addresses that the site sends nothing to. */
export const mailSuppressionRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/mail-suppressions' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .get(
      '/',
      async ({ site, query }) =>
        answerPage(context, { scope: [site.siteId, 'mail-suppressions'], query }, (page) =>
          context.suppressions.list(site.siteId, page),
        ),
      { role: 'admin', query: PageQuery, response: PageOf(Suppression) },
    )
    .delete(
      '/:address',
      async ({ site, by, params }) => {
        await context.suppressions.remove(site.siteId, by, params.address)
        return noContent()
      },
      {
        role: 'admin',
        changes: { audit: ['mail-suppression.removed'], effects: [] },
        params: AddressPath,
        responds: 'no-content',
      },
    )
