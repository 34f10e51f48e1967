import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { originOf } from '#http/request-origin.ts'
import { ResendRequest, Resent } from '#identity/invites/super-admin-invites.ts'

export const superAdminInviteRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/super-admin-invites' }).use(adminAuth(context)).post(
    '/resend',
    ({ site, actor, request, body }) => {
      const by = { actor, origin: originOf(request) }
      return context.superAdminInvites.resend(site, by, body ?? {})
    },
    { role: 'super-admin', body: Type.Optional(ResendRequest), response: Resent },
  )
