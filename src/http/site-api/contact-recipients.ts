import { t } from 'elysia'

import { SHORT_JSON_BYTES, jsonBody, optionalJsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf, PageQuery, answerList } from '#http/paging.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import {
  AddedContactRecipients,
  ContactRecipient,
  ContactRecipientList,
  OptionalContactRecipientList,
} from '#mail/contact/recipient-model.ts'

/** The recipients of the site's contact form. */
export const contactRecipientRoutes = siteFamily(
  {
    site: '/admin/api/contact-recipients',
    operator: '/contact-recipients',
    body: jsonBody(SHORT_JSON_BYTES),
  },
  (routes, context) =>
    routes
      .get(
        '/',
        async ({ site, pageScope, query }) =>
          answerList(
            context,
            { scope: [...pageScope, 'contact-recipients'], query },
            await context.contactRecipients.list(site),
            ({ email }) => email,
          ),
        {
          role: 'admin',
          summary: 'List recipients of the contact form',
          query: PageQuery,
          response: PageOf(ContactRecipient),
        },
      )
      .post(
        '/',
        async ({ site, by, body }) => context.contactRecipients.add(site, by, body.recipients),
        {
          role: 'admin',
          summary: 'Add recipients of the contact form',
          errors: ['QuotaExceeded'],
          changes: { audit: ['contact-recipients.added'], effects: ['movesMail'] },
          body: ContactRecipientList,
          response: AddedContactRecipients,
        },
      )
      .delete(
        '/',
        async ({ site, by, body, request }) => {
          const recipients = body.recipients ?? recipientsIn(request.url)
          await context.contactRecipients.remove(site, by, recipients)
          return noContent()
        },
        {
          role: 'admin',
          summary: 'Remove recipients of the contact form',
          changes: { audit: ['contact-recipients.removed'], effects: [] },
          requestBody: optionalJsonBody(SHORT_JSON_BYTES),
          query: t.Object({ recipients: t.Optional(t.String({ repeatable: true })) }),
          body: OptionalContactRecipientList,
          responds: 'no-content',
        },
      ),
)

/** May be repeated; Elysia hands on one of them. */
const recipientsIn = (url: string): readonly string[] =>
  new URL(url).searchParams.getAll('recipients')
