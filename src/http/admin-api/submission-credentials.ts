import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageQuery, answerList } from '#http/paging.ts'
import { AddressPath, CredentialPath } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { CreatedCredential, CredentialRequest, CredentialList } from '#mail/submission/model.ts'

/** The passwords with which mail programs send from a mailbox. */
export const submissionCredentialRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/mailboxes/:address/submission-credentials' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .get(
      '',
      async ({ site, actor, params, query }) => {
        const { mailbox, items } = await context.submissionCredentials.list(
          site,
          actor,
          params.address,
        )
        const asked = { scope: [site.siteId, 'submission-credentials', params.address], query }
        const page = await answerList(context, asked, items, ({ credentialId }) => credentialId)
        return { mailbox, ...page }
      },
      { role: 'user', params: AddressPath, query: PageQuery, response: CredentialList },
    )
    .post(
      '',
      async ({ site, by, params, body }) =>
        context.submissionCredentials.create(site, by, params.address, body.name),
      {
        role: 'user',
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
        changes: { audit: ['mail-credential.removed'], effects: [] },
        params: CredentialPath,
        responds: 'no-content',
      },
    )
