import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { audited, noteWho } from '#http/audited.ts'
import { definitionBody } from '#http/bodies/request-body.ts'
import { idempotentRequest } from '#http/idempotency.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { NameText } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { checkDefinitionBounds } from '#runtime/definitions/parse.ts'
import { IacRequest } from '#runtime/iac/model.ts'

import {
  DefinitionView,
  IacJobView,
  ListedIacJobView,
  SubmittedView,
  iacJobView,
  listedIacJobView,
} from './iac-view.ts'

const JobPath = Type.Object({ jobId: NameText })

/** Infrastructure as code: send a definition, watch what becomes of it, take the site's state home as one. */
export const iacRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/iac' })
    .use(adminAuth(context))
    .post(
      '/jobs',
      async ({ site, actor, by, request, body }) => {
        checkDefinitionBounds(body.definition)
        const repeat = idempotentRequest(request, `POST /admin/data/iac/jobs ${actor.userId}`, body)
        const audit = audited(context, by)
        const sender = { userId: actor.userId, repeat, stepUp: by.stepUp, audit }
        return context.iacSubmissions.submit(site.siteId, body, sender)
      },
      {
        role: 'admin',
        changes: { audit: ['definition.submitted', 'definition.saved'], effects: ['setsSecret?'] },
        requestBody: definitionBody(),
        body: IacRequest,
        response: SubmittedView,
      },
    )
    .get(
      '/jobs',
      async ({ site, query }) => {
        return answerPage(context, { scope: [site.siteId, 'iac-jobs'], query }, async (page) => {
          const { items, lastKey } = await context.iacJobs.list(site.siteId, page)
          return { items: items.map(listedIacJobView), lastKey }
        })
      },
      { role: 'admin', query: PageQuery, response: PageOf(ListedIacJobView) },
    )
    .get(
      '/jobs/:jobId',
      async ({ site: { siteId }, params }) =>
        iacJobView(
          await context.iacJobs.get(siteId, params.jobId),
          await context.permissionSync.statusOf(siteId),
        ),
      { role: 'admin', params: JobPath, response: IacJobView },
    )
    .use(iacStateRoutes(context))

const iacStateRoutes = (context: AppContext) =>
  new Elysia()
    .use(adminAuth(context))
    .post(
      '/jobs/:jobId/cancel',
      async ({ site: { siteId }, by, params }) =>
        iacJobView(
          await context.iacJobs.cancel(siteId, params.jobId, audited(context, by)),
          await context.permissionSync.statusOf(siteId),
        ),
      {
        role: 'admin',
        changes: { audit: ['definition.cancelled'], effects: [] },
        params: JobPath,
        response: IacJobView,
      },
    )
    .get(
      '/export',
      async ({ site, by }) => {
        await noteWho(context, site.siteId, by, { event: 'definition.exported' })
        return context.iacJobs.export(site.siteId)
      },
      { role: 'admin', response: DefinitionView },
    )
