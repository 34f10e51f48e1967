import { Elysia, t } from 'elysia'

import type { PageRequest } from '#base/page.ts'
import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody, optionalJsonBody } from '#http/bodies/request-body.ts'
import { idempotentRequest } from '#http/idempotency.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { UserPath } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import {
  AdminUser,
  CreatedAdminUser,
  NewAdminUser,
  RoleChange,
} from '#identity/admin-users/model.ts'
import { InviteResendRequest, ResentInvites } from '#identity/invites/super-admin-invites.ts'

const PAGE = { defaultLimit: 50, maxLimit: 50 }

const SearchText = t.String({
  minLength: 1,
  maxLength: 254,
  pattern: '^[^\\u0000]*$',
  fault: 'must be 1 to 254 characters, none of them NUL',
})

/** The query of a list of admin users. */
const AdminUserQuery = t.Composite([
  PageQuery,
  t.Object({
    /** Exactly this address, the primary or the external one. */
    email: t.Optional(SearchText),
    /** What one of them begins with. */
    q: t.Optional(SearchText),
  }),
])

/** The people who run a site. */
export const adminUserRoutes = siteFamily(
  { site: '/admin/api/users', operator: '/admin-users', body: jsonBody(SHORT_JSON_BYTES) },
  (routes, context) =>
    routes
      .get(
        '/',
        async ({ site, pageScope, query }) => {
          const { email, q } = query
          const asked = { scope: [...pageScope, 'users', JSON.stringify([email, q])], query }
          const list = (page: PageRequest) => context.adminUsers.list(site, { ...page, email, q })
          return answerPage(context, { ...asked, bounds: PAGE }, list)
        },
        {
          role: 'admin',
          summary: 'List admin users',
          query: AdminUserQuery,
          response: PageOf(AdminUser),
        },
      )
      .get('/:userId', async ({ site, params }) => context.adminUsers.get(site, params.userId), {
        role: 'admin',
        summary: 'Get an admin user',
        params: UserPath,
        response: AdminUser,
      })
      .delete(
        '/:userId/second-factor',
        async ({ site, by, params }) => {
          const { pool, sub } = await context.userSessions.ownerById(site, by, params.userId)
          await context.secondFactors.disable(site, pool, sub, by)
          return noContent()
        },
        {
          role: 'admin',
          summary: 'Remove the second factor of an admin user',
          changes: { audit: ['second-factor.disabled'], effects: ['movesAccount'] },
          params: UserPath,
          responds: 'no-content',
        },
      )
      .delete(
        '/:userId',
        async ({ site, by, params }) => {
          await context.adminUsers.delete(site, by, params.userId)
          return noContent()
        },
        {
          role: 'admin',
          summary: 'Delete an admin user',
          errors: ['CannotDeleteSelf', 'LastSuperAdmin', 'MailboxOwnershipConflict'],
          changes: { audit: ['user.deleted'], effects: ['deletesPeople'] },
          params: UserPath,
          responds: 'no-content',
        },
      ),
)

/** For admins alone: invites and roles, which name the admin who gives them. */
export const adminUserInviteRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/users' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .post(
      '/',
      async ({ site, by, request, body }) => {
        const repeat = idempotentRequest(request, `POST /admin/api/users ${by.userId}`, body)
        return context.adminUsers.create(site, by, body, repeat)
      },
      {
        role: 'admin',
        idempotent: 'Idempotency-Key',
        summary: 'Invite an admin user',
        errors: ['UserAlreadyExists'],
        changes: { audit: ['user.created', 'invite.sent'], effects: ['movesAccount?'] },
        body: NewAdminUser,
        response: CreatedAdminUser,
      },
    )
    .post(
      '/:userId/invite/resend',
      async ({ site, by, params }) => context.adminUsers.resendInvite(site, by, params.userId),
      {
        role: 'admin',
        summary: 'Send an invite again',
        errors: ['UserAlreadyActive'],
        changes: { audit: ['invite.sent'], effects: [] },
        params: UserPath,
        response: CreatedAdminUser,
      },
    )
    .patch(
      '/:userId',
      async ({ site, by, params, body }) =>
        context.adminUsers.changeRole(site, by, params.userId, body.role),
      {
        role: 'admin',
        summary: 'Change an admin user',
        errors: ['LastSuperAdmin'],
        changes: { audit: ['role.changed', 'invite.sent'], effects: ['movesAccount'] },
        params: UserPath,
        body: RoleChange,
        response: AdminUser,
      },
    )

/** New invites for super-admins who have not taken theirs. */
export const superAdminInviteRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/super-admin-invites' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .post(
      '/resend',
      async ({ site, by, body }) => context.superAdminInvites.resend(site, by, body),
      {
        role: 'super-admin',
        summary: 'Send the invites of super-admins again',
        changes: { audit: ['invite.sent'], effects: [] },
        requestBody: optionalJsonBody(SHORT_JSON_BYTES),
        body: InviteResendRequest,
        response: ResentInvites,
      },
    )
