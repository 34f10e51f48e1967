import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { AdminUserQuery } from '#http/admin-api/users.ts'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { PageOf, answerPage } from '#http/paging.ts'
import { SitePath, UserPath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { AdminUser } from '#identity/admin-users/model.ts'

const AdminUserPath = Type.Composite([SitePath, UserPath])

/** The people who run a site, for `croft users --pool admin`. The operator has the authority of a super-admin. */
export const portalAdminUserRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/admin-users' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site, query }) => {
        const { email, q } = query
        const scope = [site.siteId, 'operator', 'users', JSON.stringify([email, q])]
        return answerPage(context, { scope, query }, (page) =>
          context.adminUsers.list(site, { ...page, email, q }),
        )
      },
      {
        siteOperator: true,
        params: SitePath,
        query: AdminUserQuery,
        response: PageOf(AdminUser),
      },
    )
    .get('/:userId', async ({ site, params }) => context.adminUsers.get(site, params.userId), {
      siteOperator: true,
      params: AdminUserPath,
      response: AdminUser,
    })
    .post(
      '/:userId/sign-out',
      async ({ site, params, request }) => {
        const owner = await context.userSessions.ownerById(site, operatorAt(request), params.userId)
        await context.userSessions.endAll(site, owner, operatorAt(request))
        return noContent()
      },
      {
        siteOperator: true,
        changes: { audit: ['sessions.revoked'], effects: [] },
        params: AdminUserPath,
        responds: 'no-content',
      },
    )
    .delete(
      '/:userId',
      async ({ site, params, request }) => {
        const by = operatorAt(request)
        await context.adminUsers.delete(site, by, params.userId)
        return noContent()
      },
      {
        siteOperator: true,
        changes: { audit: ['user.deleted'], effects: ['deletesPeople'] },
        params: AdminUserPath,
        responds: 'no-content',
      },
    )
