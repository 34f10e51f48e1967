import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { Done, done, PermissionsSyncView } from '#http/admin-data/views.ts'
import { auditAs } from '#http/audited.ts'
import { PageOf, PageQuery, answerList } from '#http/paging.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { siteFamily } from '#http/plugins/site-family.ts'

const EnvVarView = Type.Object(
  {
    name: Type.String(),
    secret: Type.Boolean(),
    /** Only when not secret. */
    value: Type.Optional(Type.String()),
    storageBackend: Type.String(),
    updatedAt: Type.Date(),
  },
  { title: 'EnvVar' },
)

const SavedView = Type.Object({
  items: Type.Array(Type.Object({ name: Type.String(), secret: Type.Boolean() })),
  permissionsSync: PermissionsSyncView,
})

/** The environment of a site's functions. The body of a PUT is checked by the service, whose faults repeat nothing of it. */
export const envVarRoutes = siteFamily(
  { site: '/admin/data/env-vars', operator: '/env-vars', tokens: ['iac'] },
  (routes, context) =>
    routes
      .get(
        '/',
        async ({ site, pageScope, query }) => {
          const asked = { scope: [...pageScope, 'env-vars'], query }
          return answerList(
            context,
            asked,
            await context.envVars.list(site.siteId),
            ({ name }) => name,
          )
        },
        {
          role: 'admin',
          summary: 'List environment variables',
          query: PageQuery,
          response: PageOf(EnvVarView),
        },
      )
      .put(
        '/',
        async ({ site, by, body }) => {
          const audit = auditAs(context, by)
          const { saved, permissionsSync } = await context.envVars.put(site.siteId, body, audit)
          return { items: saved.map(({ name, secret }) => ({ name, secret })), permissionsSync }
        },
        {
          role: 'admin',
          summary: 'Set environment variables',
          changes: { audit: ['env-vars.changed'], effects: ['setsSecret'] },
          body: Type.Unknown(),
          response: SavedView,
        },
      ),
)

/** For admins alone: a definition that a deploy token applies says itself what goes. */
export const envVarClearingRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/env-vars' })
    .use(adminAuth(context))
    .delete(
      '/',
      async ({ site, by }) => done(context.envVars.clear(site.siteId, auditAs(context, by))),
      {
        role: 'admin',
        summary: 'Delete environment variables',
        changes: { audit: ['env-vars.changed'], effects: ['setsSecret'] },
        response: Done,
      },
    )
