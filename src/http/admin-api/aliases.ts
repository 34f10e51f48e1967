import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { AddressPath } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { Alias, AliasTargets } from '#mail/aliases/model.ts'

/** Addresses that lead to mailboxes. */
export const aliasRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/aliases' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .get(
      '/',
      async ({ site, query }) =>
        answerPage(context, { scope: [site.siteId, 'aliases'], query }, (page) =>
          context.aliases.list(site, page),
        ),
      { role: 'admin', query: PageQuery, response: PageOf(Alias) },
    )
    .put(
      '/:address',
      async ({ site, by, params, body }) => context.aliases.put(site, by, { ...params, ...body }),
      {
        role: 'admin',
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
        changes: { audit: ['alias.deleted'], effects: [] },
        params: AddressPath,
        responds: 'no-content',
      },
    )
