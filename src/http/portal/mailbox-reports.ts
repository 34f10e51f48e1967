import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { SiteAddressPath, SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { MailboxReport } from '#mail/mailboxes/model.ts'

/** The mailboxes of a site with what each uses. For the operator alone: an admin reads the settings of one mailbox. */
export const portalMailboxReportRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/mailbox-reports' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site, query }) =>
        answerPage(
          context,
          { scope: [site.siteId, 'operator', 'mailbox-reports'], query },
          (page) => context.mailboxReports.list(site, page),
        ),
      {
        siteOperator: true,
        summary: 'List reports of mailboxes',
        params: SitePath,
        query: PageQuery,
        response: PageOf(MailboxReport),
      },
    )
    .get(
      '/:address',
      async ({ site, params }) => context.mailboxReports.get(site, params.address),
      {
        siteOperator: true,
        summary: 'Get the report of a mailbox',
        params: SiteAddressPath,
        response: MailboxReport,
      },
    )
