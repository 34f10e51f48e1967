import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { PageQuery, answerList } from '#http/paging.ts'
import { SiteAddressPath, SiteCredentialPath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { CreatedCredential, CredentialRequest, CredentialList } from '#mail/submission/model.ts'

/** The passwords with which mail programs send from the mailboxes of a site. */
export const portalSubmissionCredentialRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/mailboxes/:address/submission-credentials' })
    .use(operatorAuth(context))
    .get(
      '',
      async ({ site, params, query, request }) => {
        const { mailbox, items } = await context.submissionCredentials.list(
          site,
          operatorAt(request),
          params.address,
        )
        const asked = {
          scope: [site.siteId, 'operator', 'submission-credentials', params.address],
          query,
        }
        const page = await answerList(context, asked, items, ({ credentialId }) => credentialId)
        return { mailbox, ...page }
      },
      { siteOperator: true, params: SiteAddressPath, query: PageQuery, response: CredentialList },
    )
    .post(
      '',
      async ({ site, request, params, body }) =>
        context.submissionCredentials.create(site, operatorAt(request), params.address, body.name),
      {
        siteOperator: true,
        changes: { audit: ['mail-credential.created'], effects: ['movesMail'] },
        params: SiteAddressPath,
        body: CredentialRequest,
        response: CreatedCredential,
      },
    )
    .delete(
      '/:credentialId',
      async ({ site, request, params: { address, credentialId } }) => {
        await context.submissionCredentials.remove(site, operatorAt(request), address, credentialId)
        return noContent()
      },
      {
        siteOperator: true,
        changes: { audit: ['mail-credential.removed'], effects: [] },
        params: SiteCredentialPath,
        responds: 'no-content',
      },
    )
