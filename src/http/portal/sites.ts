import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { auditAs } from '#http/audited.ts'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { CreateSiteBody, CreatedSite, SiteRecord, UpdateSiteBody } from '#sites/model.ts'

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
      async ({ body, request }) =>
        context.sites.create(body, auditAs(context, operatorAt(request))),
      {
        operator: true,
        summary: 'Create a site',
        errors: ['RepositoryNotFound', 'SiteAlreadyExists'],
        changes: { audit: ['site.created', 'invite.sent'], effects: ['movesAccount'] },
        body: CreateSiteBody,
        response: CreatedSite,
      },
    )
    .get(
      '/',
      async ({ query }) =>
        answerPage(context, { scope: ['portal', 'sites'], query }, (page) =>
          context.sites.list(page),
        ),
      { operator: true, summary: 'List sites', query: PageQuery, response: PageOf(SiteRecord) },
    )
    .get(
      '/:siteId',
      async ({ site }) => ({
        ...site,
        superAdmins: [...(await context.users.superAdmins(site.siteId))],
        permissionsSync: await context.permissionSync.statusOf(site.siteId),
      }),
      { siteOperator: true, summary: 'Get a site', params: SitePath, response: ShownSite },
    )
    .patch(
      '/:siteId',
      async ({ site, body, request }) =>
        context.sites.update(site.siteId, body, auditAs(context, operatorAt(request))),
      {
        siteOperator: true,
        summary: 'Change a site',
        errors: ['ImmutableField', 'RepositoryNotFound', 'SiteAlreadyExists'],
        changes: { audit: ['site.changed'], effects: [] },
        params: SitePath,
        body: UpdateSiteBody,
        response: SiteRecord,
      },
    )
    .use(siteRemovalRoutes(context))

const siteRemovalRoutes = (context: AppContext) =>
  new Elysia().use(operatorAuth(context)).delete(
    '/:siteId',
    async ({ site: { siteId, domain }, body, query }) => {
      if (!(body?.confirm ?? query.confirm ?? false)) throw unconfirmed(domain)
      await context.sites.delete(siteId)
      return noContent()
    },
    {
      siteOperator: true,
      summary: 'Delete a site',
      errors: ['ConfirmationRequired'],
      changes: { audit: 'removal', effects: ['deletesPeople'] },
      params: SitePath,
      query: ConfirmationQuery,
      body: Type.Optional(Confirmation),
      responds: 'no-content',
    },
  )

const unconfirmed = (domain: string): AppError =>
  new AppError(
    'ConfirmationRequired',
    `Deleting "${domain}" removes everything the site has permanently: send "confirm": true`,
  )
