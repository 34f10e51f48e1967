import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { originOf } from '#http/request-origin.ts'
import { SessionList, sessionList } from '#http/session-view.ts'
import { EmailAddress } from '#identity/email.ts'
import { OPERATOR } from '#identity/security-events/model.ts'
import type { SessionOwner } from '#identity/sessions/user-sessions.ts'
import type { Site } from '#sites/site.ts'

/** An id, or the site's domain. */
const SitePath = Type.Object({ siteId: Type.String({ maxLength: 253 }) })
const SessionPath = Type.Composite([
  SitePath,
  Type.Object({ sessionId: Type.String({ maxLength: 64, pattern: '^[^\\u0000]*$' }) }),
])

const UserQuery = t.Object({
  user: EmailAddress,
  pool: t.Optional(t.Union([t.Literal('admin'), t.Literal('data')])),
})

interface Addressed {
  readonly params: { readonly siteId: string }
  readonly query: { readonly user: string; readonly pool?: 'admin' | 'data' }
}

/** Where a user of a site is signed in, by address; a visitor unless the admin pool is named. */
export const portalUserSessionRoutes = (context: AppContext) => {
  const find = async ({ params, query }: Addressed): Promise<readonly [Site, SessionOwner]> => {
    const site = await context.sites.find(params.siteId)
    return [site, await context.userSessions.ownerByEmail(site, query.pool ?? 'data', query.user)]
  }
  const endingOf = (request: Request) => ({ actor: OPERATOR, origin: originOf(request) })

  return new Elysia({ prefix: '/portal/api/sites/:siteId/sessions' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ params, query }) => {
        const [site, user] = await find({ params, query })
        return sessionList(await context.userSessions.list(site, user))
      },
      { operator: true, params: SitePath, query: UserQuery, response: SessionList },
    )
    .delete(
      '/',
      async ({ params, query, request }) => {
        const [site, user] = await find({ params, query })
        await context.userSessions.endAll(site, user, endingOf(request))
        return noContent()
      },
      { operator: true, params: SitePath, query: UserQuery },
    )
    .delete(
      '/:sessionId',
      async ({ params, query, request }) => {
        const [site, user] = await find({ params, query })
        await context.userSessions.end(site, user, params.sessionId, endingOf(request))
        return noContent()
      },
      { operator: true, params: SessionPath, query: UserQuery },
    )
}
