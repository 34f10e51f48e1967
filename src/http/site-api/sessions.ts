import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageQuery } from '#http/paging.ts'
import { NameText, UserPath } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import { SessionList, answerSessions } from '#http/session-view.ts'

const SessionPath = Type.Object({ sessionId: NameText })
const UserSessionPath = Type.Composite([UserPath, SessionPath])

/** Where one is signed in oneself. */
export const ownSessionRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/profile/sessions' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .get(
      '/',
      async ({ site, actor, query }) => {
        const user = await context.userSessions.ownerOf(site, actor)
        const asked = { scope: [site.siteId, 'own-sessions', actor.userId], query }
        return answerSessions(context, asked, await context.userSessions.list(site, user))
      },
      { role: 'user', summary: 'List your sessions', query: PageQuery, response: SessionList },
    )
    .delete(
      '/',
      async ({ site, actor }) => {
        const user = await context.userSessions.ownerOf(site, actor)
        await context.userSessions.endAll(site, user, { type: 'owner', origin: actor.origin })
        return noContent()
      },
      {
        role: 'user',
        summary: 'End your other sessions',
        changes: { audit: ['sessions.revoked'], effects: [] },
        responds: 'no-content',
      },
    )
    .delete(
      '/:sessionId',
      async ({ site, actor, params: { sessionId } }) => {
        const user = await context.userSessions.ownerOf(site, actor)
        await context.userSessions.end(site, user, sessionId, {
          type: 'owner',
          origin: actor.origin,
        })
        return noContent()
      },
      {
        role: 'user',
        summary: 'End one of your sessions',
        changes: { audit: ['session.revoked'], effects: [] },
        params: SessionPath,
        responds: 'no-content',
      },
    )

/** Where others are signed in. */
export const userSessionRoutes = siteFamily(
  {
    site: '/admin/api/users/:userId/sessions',
    operator: '/admin-users/:userId/sessions',
    body: jsonBody(SHORT_JSON_BYTES),
  },
  (routes, context) =>
    routes
      .get(
        '/',
        async ({ site, pageScope, by, params: { userId }, query }) => {
          const user = await context.userSessions.ownerById(site, by, userId)
          const asked = { scope: [...pageScope, 'user-sessions', userId], query }
          return answerSessions(context, asked, await context.userSessions.list(site, user))
        },
        {
          role: 'admin',
          summary: 'List the sessions of an admin user',
          params: UserPath,
          query: PageQuery,
          response: SessionList,
        },
      )
      .delete(
        '/',
        async ({ site, by, params }) => {
          const user = await context.userSessions.ownerById(site, by, params.userId)
          await context.userSessions.endAll(site, user, by)
          return noContent()
        },
        {
          role: 'admin',
          summary: 'End the sessions of an admin user',
          changes: { audit: ['sessions.revoked'], effects: [] },
          params: UserPath,
          responds: 'no-content',
        },
      )
      .delete(
        '/:sessionId',
        async ({ site, by, params }) => {
          const user = await context.userSessions.ownerById(site, by, params.userId)
          await context.userSessions.end(site, user, params.sessionId, by)
          return noContent()
        },
        {
          role: 'admin',
          summary: 'End a session of an admin user',
          changes: { audit: ['session.revoked'], effects: [] },
          params: UserSessionPath,
          responds: 'no-content',
        },
      ),
)
