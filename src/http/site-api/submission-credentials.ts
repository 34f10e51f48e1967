import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageQuery, answerList } from '#http/paging.ts'
import { AddressPath, CredentialPath } from '#http/path-params.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import { CreatedCredential, CredentialRequest, CredentialList } from '#mail/submission/model.ts'

/** The passwords with which mail programs send from a mailbox. */
export const submissionCredentialRoutes = siteFamily(
  {
    site: '/admin/api/mailboxes/:address/submission-credentials',
    operator: '/mailboxes/:address/submission-credentials',
    body: jsonBody(SHORT_JSON_BYTES),
  },
  (routes, context) =>
    routes
      .get(
        '',
        async ({ site, pageScope, by, params, query }) => {
          const { mailbox, items } = await context.submissionCredentials.list(
            site,
            by,
            params.address,
          )
          const asked = { scope: [...pageScope, 'submission-credentials', params.address], query }
          const page = await answerList(context, asked, items, ({ credentialId }) => credentialId)
          return { mailbox, ...page }
        },
        {
          role: 'user',
          summary: 'List submission credentials of a mailbox',
          params: AddressPath,
          query: PageQuery,
          response: CredentialList,
        },
      )
      .post(
        '',
        async ({ site, by, params, body }) =>
          context.submissionCredentials.create(site, by, params.address, body.name),
        {
          role: 'user',
          summary: 'Create a submission credential',
          errors: ['MailboxDisabled', 'TooManyCredentials'],
          changes: { audit: ['mail-credential.created'], effects: ['movesMail'] },
          params: AddressPath,
          body: CredentialRequest,
          response: CreatedCredential,
        },
      )
      .delete(
        '/:credentialId',
        async ({ site, by, params: { address, credentialId } }) => {
          await context.submissionCredentials.remove(site, by, address, credentialId)
          return noContent()
        },
        {
          role: 'user',
          summary: 'Delete a submission credential',
          changes: { audit: ['mail-credential.removed'], effects: [] },
          params: CredentialPath,
          responds: 'no-content',
        },
      ),
)
