import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { AddressPath } from '#http/path-params.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import { Alias, AliasTargets } from '#mail/aliases/model.ts'

/** Addresses that lead to mailboxes. */
export const aliasRoutes = siteFamily(
  { site: '/admin/api/aliases', operator: '/aliases', body: jsonBody(SHORT_JSON_BYTES) },
  (routes, context) =>
    routes
      .get(
        '/',
        async ({ site, pageScope, query }) =>
          answerPage(context, { scope: [...pageScope, 'aliases'], query }, (page) =>
            context.aliases.list(site, page),
          ),
        { role: 'admin', summary: 'List aliases', query: PageQuery, response: PageOf(Alias) },
      )
      .put(
        '/:address',
        async ({ site, by, params, body }) => context.aliases.put(site, by, { ...params, ...body }),
        {
          role: 'admin',
          summary: 'Create or replace an alias',
          errors: ['InvalidTarget', 'MailboxAlreadyExists', 'QuotaExceeded'],
          changes: { audit: ['alias.changed'], effects: ['movesMail'] },
          params: AddressPath,
          body: AliasTargets,
          response: Alias,
        },
      )
      .delete(
        '/:address',
        async ({ site, by, params }) => {
          await context.aliases.delete(site, by, params.address)
          return noContent()
        },
        {
          role: 'admin',
          summary: 'Delete an alias',
          changes: { audit: ['alias.deleted'], effects: [] },
          params: AddressPath,
          responds: 'no-content',
        },
      ),
)
