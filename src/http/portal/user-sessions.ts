import { type Static, Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { PageQuery } from '#http/paging.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { SessionList, answerSessions } from '#http/session-view.ts'
import { EmailAddress } from '#identity/email.ts'
import type { Site } from '#sites/site.ts'
const SessionPath = Type.Composite([
  SitePath,
  Type.Object({ sessionId: Type.String({ maxLength: 64, pattern: '^[^\\u0000]*$' }) }),
])

const UserQuery = t.Object({
  user: EmailAddress,
  pool: t.Optional(t.Union([t.Literal('admin'), t.Literal('data')])),
})

/** Where a user of a site is signed in, by address; a visitor unless the admin pool is named. */
export const portalUserSessionRoutes = (context: AppContext) => {
  const find = (site: Site, { user, pool }: Static<typeof UserQuery>) =>
    context.userSessions.ownerByEmail(site, pool ?? 'data', user)
  return new Elysia({ prefix: '/portal/api/sites/:siteId/sessions' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site, query }) => {
        const { user, pool = 'data' } = query
        const asked = { scope: [site.siteId, 'operator', 'sessions', pool, user], query }
        const sessions = await context.userSessions.list(site, await find(site, query))
        return answerSessions(context, asked, sessions)
      },
      {
        siteOperator: true,
        summary: 'List the sessions of a user',
        errors: ['UserNotFound'],
        params: SitePath,
        query: t.Composite([UserQuery, PageQuery]),
        response: SessionList,
      },
    )
    .delete(
      '/',
      async ({ site, query, request }) => {
        await context.userSessions.endAll(site, await find(site, query), operatorAt(request))
        return noContent()
      },
      {
        siteOperator: true,
        summary: 'End the sessions of a user',
        errors: ['UserNotFound'],
        changes: { audit: ['sessions.revoked'], effects: [] },
        params: SitePath,
        query: UserQuery,
        responds: 'no-content',
      },
    )
    .delete(
      '/:sessionId',
      async ({ site, params: { sessionId }, query, request }) => {
        const user = await find(site, query)
        await context.userSessions.end(site, user, sessionId, operatorAt(request))
        return noContent()
      },
      {
        siteOperator: true,
        summary: 'End a session of a user',
        errors: ['UserNotFound'],
        changes: { audit: ['session.revoked'], effects: [] },
        params: SessionPath,
        query: UserQuery,
        responds: 'no-content',
      },
    )
}
