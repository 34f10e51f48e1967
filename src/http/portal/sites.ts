import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { PageOf, PageQuery, pageAnswer, pageRequest } from '#http/page-query.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { CreateSiteBody, CreatedSite, SiteRecord, UpdateSiteBody } from '#sites/model.ts'

/** An id, or the site's domain. */
const SitePath = Type.Object({ siteId: Type.String({ maxLength: 253 }) })

const ShownSite = Type.Composite([
  SiteRecord,
  Type.Object({
    superAdmins: Type.Array(Type.String()),
    /** How far the published runtime is behind what is configured. */
    permissionsSync: Type.Object({ status: Type.String(), error: Type.Optional(Type.String()) }),
  }),
])

const Confirmation = Type.Object(
  { confirm: Type.Optional(Type.Boolean()) },
  { additionalProperties: false },
)
const ConfirmationQuery = t.Object({ confirm: t.Optional(t.Boolean()) })

/** The operator's directory of sites. */
export const portalSiteRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites' })
    .use(operatorAuth(context))
    .post(
      '/',
      ({ body, set }) => {
        // The onboarding links are shown this once.
        set.headers['cache-control'] = 'no-store'
        return context.sites.create(body)
      },
      { operator: true, body: CreateSiteBody, response: CreatedSite },
    )
    .get(
      '/',
      async ({ query }) => {
        const scope = ['portal', 'sites']
        const rows = await context.sites.list(pageRequest(context, scope, query))
        return pageAnswer(context, scope, rows)
      },
      { operator: true, query: PageQuery, response: PageOf(SiteRecord) },
    )
    .get(
      '/:siteId',
      async ({ params }) => {
        const site = await context.sites.find(params.siteId)
        return {
          ...site,
          superAdmins: [...(await context.users.superAdmins(site.siteId))],
          permissionsSync: await context.permissionSync.statusOf(site.siteId),
        }
      },
      { operator: true, params: SitePath, response: ShownSite },
    )
    .patch(
      '/:siteId',
      async ({ params, body }) => {
        const { siteId } = await context.sites.find(params.siteId)
        return context.sites.update(siteId, body)
      },
      { operator: true, params: SitePath, body: UpdateSiteBody, response: SiteRecord },
    )
    .delete(
      '/:siteId',
      async ({ params, body, query }) => {
        const { siteId, domain } = await context.sites.find(params.siteId)
        if (!(body?.confirm ?? query.confirm ?? false)) throw unconfirmed(domain)
        await context.sites.delete(siteId)
        return noContent()
      },
      {
        operator: true,
        params: SitePath,
        query: ConfirmationQuery,
        body: Type.Optional(Confirmation),
      },
    )

const unconfirmed = (domain: string): AppError =>
  new AppError(
    'ConfirmationRequired',
    `Deleting "${domain}" removes everything the site has, for good: send "confirm": true`,
  )
