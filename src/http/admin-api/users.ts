import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { NameText } from '#http/admin-data/views.ts'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { idempotentRequest } from '#http/idempotency.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf, PageQuery, pageAnswer, pageRequest } from '#http/page-query.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { originOf } from '#http/request-origin.ts'
import {
  AdminUser,
  CreatedAdminUser,
  NewAdminUser,
  RoleChange,
} from '#identity/admin-users/model.ts'

const PAGE = { defaultLimit: 50, maxLimit: 50 }

const UserPath = Type.Object({ userId: NameText })

/** The people who run a site. */
export const adminUserRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/users' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .post(
      '/',
      ({ site, actor, request, body }) => {
        const by = { actor, origin: originOf(request) }
        const repeat = idempotentRequest(request, `POST /admin/api/users ${actor.userId}`, body)
        return context.adminUsers.create(site, by, body, repeat)
      },
      { role: 'admin', body: NewAdminUser, response: CreatedAdminUser },
    )
    .get(
      '/',
      async ({ site, query }) => {
        const scope = [site.siteId, 'users']
        const page = pageRequest(context, scope, query, PAGE)
        return pageAnswer(context, scope, await context.adminUsers.list(site, page))
      },
      { role: 'admin', query: PageQuery, response: PageOf(AdminUser) },
    )
    .patch(
      '/:userId',
      ({ site, actor, request, params, body }) => {
        const by = { actor, origin: originOf(request) }
        return context.adminUsers.changeRole(site, by, params.userId, body.role)
      },
      { role: 'admin', params: UserPath, body: RoleChange, response: AdminUser },
    )
    .delete(
      '/:userId',
      async ({ site, actor, request, params }) => {
        const by = { actor, origin: originOf(request) }
        await context.adminUsers.delete(site, by, params.userId)
        return noContent()
      },
      { role: 'admin', params: UserPath },
    )
