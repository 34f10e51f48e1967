import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { PageOf, PageQuery, answerList } from '#http/paging.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import {
  AddedContactRecipients,
  ContactRecipient,
  ContactRecipientList,
} from '#mail/contact/recipient-model.ts'

/** To whom the contact form of a site sends. */
export const portalContactRecipientRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/contact-recipients' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site, query }) =>
        answerList(
          context,
          { scope: [site.siteId, 'operator', 'contact-recipients'], query },
          await context.contactRecipients.list(site),
          ({ email }) => email,
        ),
      {
        siteOperator: true,
        params: SitePath,
        query: PageQuery,
        response: PageOf(ContactRecipient),
      },
    )
    .post(
      '/',
      async ({ site, request, body }) =>
        context.contactRecipients.add(site, operatorAt(request), body.recipients),
      {
        siteOperator: true,
        changes: { audit: ['contact-recipients.added'], effects: ['movesMail'] },
        params: SitePath,
        body: ContactRecipientList,
        response: AddedContactRecipients,
      },
    )
    .delete(
      '/',
      async ({ site, request, body }) => {
        await context.contactRecipients.remove(site, operatorAt(request), body.recipients)
        return noContent()
      },
      {
        siteOperator: true,
        changes: { audit: ['contact-recipients.removed'], effects: [] },
        params: SitePath,
        body: ContactRecipientList,
        responds: 'no-content',
      },
    )
