import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { actorId } from '#base/actor.ts'
import { noStepUp } from '#base/effects.ts'
import type { AppContext } from '#context'
import { auditAs, recordAudit } from '#http/audited.ts'
import { definitionBody } from '#http/bodies/request-body.ts'
import { idempotentRequest } from '#http/idempotency.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { NameText } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
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
export const iacRoutes = siteFamily(
  { site: '/admin/data/iac', operator: '/iac', tokens: ['iac'] },
  (routes, context) =>
    routes
      .post(
        '/jobs',
        async ({ site, by, request, body }) => {
          checkDefinitionBounds(body.definition)
          const repeat = idempotentRequest(
            request,
            `POST /admin/data/iac/jobs ${actorId(by)}`,
            body,
          )
          const audit = auditAs(context, by)
          const stepUp = by.type === 'user' ? by.stepUp : noStepUp
          const sender = { userId: actorId(by), repeat, stepUp, audit }
          return context.iacSubmissions.submit(site.siteId, body, sender)
        },
        {
          role: 'admin',
          idempotent: 'Idempotency-Key',
          summary: 'Plan or apply a definition',
          errors: ['ConfirmationRequired', 'DefinitionNotFound', 'InvalidCode'],
          changes: {
            audit: ['definition.submitted', 'definition.saved'],
            effects: ['setsSecret?'],
          },
          requestBody: definitionBody(),
          body: IacRequest,
          response: SubmittedView,
        },
      )
      .get(
        '/jobs/:jobId',
        async ({ site: { siteId }, params }) =>
          iacJobView(
            await context.iacJobs.get(siteId, params.jobId),
            await context.permissionSync.statusOf(siteId),
          ),
        {
          role: 'admin',
          summary: 'Get a job of a definition',
          params: JobPath,
          response: IacJobView,
        },
      )
      .get(
        '/export',
        async ({ site, by }) => {
          await recordAudit(context, site.siteId, by, { event: 'definition.exported' })
          return context.iacJobs.export(site.siteId)
        },
        { role: 'admin', summary: 'Export the definition of the site', response: DefinitionView },
      ),
)

/** For admins alone: who sends a definition otherwise waits for the job that it became. */
export const iacJobRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/iac' })
    .use(adminAuth(context))
    .get(
      '/jobs',
      async ({ site, query }) => {
        return answerPage(context, { scope: [site.siteId, 'iac-jobs'], query }, async (page) => {
          const { items, lastKey } = await context.iacJobs.list(site.siteId, page)
          return { items: items.map(listedIacJobView), lastKey }
        })
      },
      {
        role: 'admin',
        summary: 'List jobs of definitions',
        query: PageQuery,
        response: PageOf(ListedIacJobView),
      },
    )
    .post(
      '/jobs/:jobId/cancel',
      async ({ site: { siteId }, by, params }) =>
        iacJobView(
          await context.iacJobs.cancel(siteId, params.jobId, auditAs(context, by)),
          await context.permissionSync.statusOf(siteId),
        ),
      {
        role: 'admin',
        summary: 'Cancel a job of a definition',
        errors: ['IacJobFinished'],
        changes: { audit: ['definition.cancelled'], effects: [] },
        params: JobPath,
        response: IacJobView,
      },
    )
