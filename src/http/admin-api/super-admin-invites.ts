import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody, optionalJsonBody } from '#http/bodies/request-body.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { originOf } from '#http/request-origin.ts'
import { InviteResendRequest, ResentInvites } from '#identity/invites/super-admin-invites.ts'

export const superAdminInviteRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/super-admin-invites' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .post(
      '/resend',
      ({ site, actor, request, body }) => {
        const by = { actor, origin: originOf(request) }
        return context.superAdminInvites.resend(site, by, body)
      },
      {
        role: 'super-admin',
        requestBody: optionalJsonBody(SHORT_JSON_BYTES),
        body: InviteResendRequest,
        response: ResentInvites,
      },
    )
