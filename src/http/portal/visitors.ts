import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { VisitorQuery } from '#http/admin-data/users.ts'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { PageOf, answerPage } from '#http/paging.ts'
import { NameText, SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { VisitorAccount, VisitorAccountDetail } from '#identity/visitor-accounts/model.ts'

const SiteVisitorPath = Type.Composite([SitePath, Type.Object({ sub: NameText })])

/** The people who sign in to a site, for `croft users`. */
export const portalVisitorRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/users' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site, query }) => {
        const { email, q, status } = query
        const scope = [site.siteId, 'operator', 'visitors', JSON.stringify([email, q, status])]
        return answerPage(context, { scope, query }, (page) =>
          context.visitorAccounts.list(site, { ...page, email, q, status }),
        )
      },
      {
        siteOperator: true,
        params: SitePath,
        query: VisitorQuery,
        response: PageOf(VisitorAccount),
      },
    )
    .get('/:sub', async ({ site, params }) => context.visitorAccounts.get(site, params.sub), {
      siteOperator: true,
      params: SiteVisitorPath,
      response: VisitorAccountDetail,
    })
    .use(visitorChangeRoutes(context))

const visitorChangeRoutes = (context: AppContext) =>
  new Elysia()
    .use(operatorAuth(context))
    .post(
      '/:sub/disable',
      async ({ site, params, request }) =>
        context.visitorAccounts.disable(site, params.sub, operatorAt(request)),
      {
        siteOperator: true,
        changes: { audit: ['user.disabled', 'sessions.revoked'], effects: [] },
        params: SiteVisitorPath,
        response: VisitorAccount,
      },
    )
    .post(
      '/:sub/enable',
      async ({ site, params, request }) =>
        context.visitorAccounts.enable(site, params.sub, operatorAt(request)),
      {
        siteOperator: true,
        changes: { audit: ['user.enabled'], effects: [] },
        params: SiteVisitorPath,
        response: VisitorAccount,
      },
    )
    .post(
      '/:sub/sign-out',
      async ({ site, params, request }) => {
        await context.visitorAccounts.signOut(site, params.sub, operatorAt(request))
        return noContent()
      },
      {
        siteOperator: true,
        changes: { audit: ['sessions.revoked'], effects: [] },
        params: SiteVisitorPath,
        responds: 'no-content',
      },
    )
    .delete(
      '/:sub',
      async ({ site, params, request }) => {
        await context.visitorAccounts.delete(site, params.sub, operatorAt(request))
        return noContent()
      },
      {
        siteOperator: true,
        changes: { audit: ['user.deleted'], effects: ['deletesPeople'] },
        params: SiteVisitorPath,
        responds: 'no-content',
      },
    )
