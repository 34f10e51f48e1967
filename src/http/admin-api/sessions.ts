import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { NameText } from '#http/admin-data/views.ts'
import { noContent } from '#http/no-content.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { originOf } from '#http/request-origin.ts'
import { SessionList, sessionList } from '#http/session-view.ts'

const SessionPath = Type.Object({ sessionId: NameText })
const UserPath = Type.Object({ userId: NameText })
const UserSessionPath = Type.Composite([UserPath, SessionPath])

/** A password as it was typed; what it must have is said by name when it has not. */
const Typed = Type.String({ maxLength: 1024 })
const PasswordBody = Type.Object(
  { currentPassword: Typed, newPassword: Typed },
  { additionalProperties: false },
)

/** Where one is signed in oneself, and the password that ends it elsewhere. */
export const ownSessionRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/profile' })
    .use(adminAuth(context))
    .get(
      '/sessions',
      async ({ site, actor }) => {
        const user = await context.userSessions.self(site, actor)
        return sessionList(await context.userSessions.list(site, user))
      },
      { role: 'user', response: SessionList },
    )
    .delete(
      '/sessions',
      async ({ site, actor, request }) => {
        const user = await context.userSessions.self(site, actor)
        await context.userSessions.endAll(site, user, { origin: originOf(request) })
        return noContent()
      },
      { role: 'user' },
    )
    .delete(
      '/sessions/:sessionId',
      async ({ site, actor, request, params: { sessionId } }) => {
        const user = await context.userSessions.self(site, actor)
        await context.userSessions.end(site, user, sessionId, { origin: originOf(request) })
        return noContent()
      },
      { role: 'user', params: SessionPath },
    )
    .post(
      '/password',
      async ({ site, actor, request, body }) => {
        const { pool, sub, familyId } = await context.userSessions.self(site, actor)
        const { currentPassword: oldPassword, newPassword } = body
        const keep = familyId === undefined ? undefined : { sessionId: familyId }
        const change = { sub, oldPassword, newPassword, keep }
        await context.accounts.changePassword(site, pool, change, originOf(request))
        return noContent()
      },
      { role: 'user', body: PasswordBody },
    )

/** Where others are signed in. */
export const userSessionRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/users/:userId/sessions' })
    .use(adminAuth(context))
    .get(
      '/',
      async ({ site, actor, params }) => {
        const user = await context.userSessions.managed(site, actor, params.userId)
        return sessionList(await context.userSessions.list(site, user))
      },
      { role: 'admin', params: UserPath, response: SessionList },
    )
    .delete(
      '/',
      async ({ site, actor, request, params }) => {
        const user = await context.userSessions.managed(site, actor, params.userId)
        const ending = { actor: actor.userId, origin: originOf(request) }
        await context.userSessions.endAll(site, user, ending)
        return noContent()
      },
      { role: 'admin', params: UserPath },
    )
    .delete(
      '/:sessionId',
      async ({ site, actor, request, params }) => {
        const user = await context.userSessions.managed(site, actor, params.userId)
        const ending = { actor: actor.userId, origin: originOf(request) }
        await context.userSessions.end(site, user, params.sessionId, ending)
        return noContent()
      },
      { role: 'admin', params: UserSessionPath },
    )
