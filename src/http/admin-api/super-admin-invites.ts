import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { optionalJson } from '#http/plugins/optional-json.ts'
import { originOf } from '#http/request-origin.ts'
import { InviteResendRequest, ResentInvites } from '#identity/invites/super-admin-invites.ts'

export const superAdminInviteRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/super-admin-invites' })
    .use(adminAuth(context))
    .use(optionalJson())
    .post(
      '/resend',
      ({ site, actor, request, body }) => {
        const by = { actor, origin: originOf(request) }
        return context.superAdminInvites.resend(site, by, body)
      },
      {
        role: 'super-admin',
        optionalJson: true,
        body: InviteResendRequest,
        response: ResentInvites,
      },
    )
