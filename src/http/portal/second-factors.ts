import { Elysia, t } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { EmailAddress } from '#identity/email.ts'

const UserQuery = t.Object({
  user: EmailAddress,
  pool: t.Optional(t.Union([t.Literal('admin'), t.Literal('data')])),
})

/** For a user who has lost the device and the recovery codes, and has shown the operator that they are who they say. */
export const portalSecondFactorRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/second-factor' })
    .use(operatorAuth(context))
    .delete(
      '/',
      async ({ site, query: { user, pool: kind = 'data' }, request }) => {
        const { pool, sub } = await context.userSessions.ownerByEmail(site, kind, user)
        await context.secondFactors.disable(site, pool, sub, operatorAt(request))
        return noContent()
      },
      {
        siteOperator: true,
        summary: 'Remove the second factor of a user',
        errors: ['UserNotFound'],
        changes: { audit: ['second-factor.disabled'], effects: ['movesAccount'] },
        params: SitePath,
        query: UserQuery,
        responds: 'no-content',
      },
    )
