import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { auditAs } from '#http/audited.ts'
import { optionalJsonBody } from '#http/bodies/request-body.ts'
import { idempotentRequest } from '#http/idempotency.ts'
import { PageOf, PageQuery, answerList, answerPage } from '#http/paging.ts'
import { NameText } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { JobBody } from '#runtime/jobs/model.ts'
import { StartBody, parseTrigger } from '#runtime/jobs/run-model.ts'

import {
  JobView,
  ListedJobView,
  ListedRunView,
  RunView,
  jobView,
  listedJobView,
  listedRunView,
  runView,
} from './job-view.ts'
import { Done, done } from './views.ts'

const JobPath = Type.Object({ jobId: NameText })
const RunPath = Type.Object({ jobId: NameText, runId: NameText })

const StartedView = Type.Object({
  ok: Type.Literal(true),
  data: Type.Object({
    jobId: Type.String(),
    runId: Type.String(),
    status: Type.Literal('started'),
  }),
})

/** Calls of a site's operations that a schedule, or a person, starts. */
export const jobRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/jobs' })
    .use(adminAuth(context))
    .get(
      '/',
      async ({ site, query }) => {
        const items = (await context.jobs.list(site.siteId)).map(listedJobView)
        const asked = { scope: [site.siteId, 'jobs'], query }
        return answerList(context, asked, items, ({ jobId }) => jobId)
      },
      { role: 'admin', summary: 'List jobs', query: PageQuery, response: PageOf(ListedJobView) },
    )
    .get(
      '/:jobId',
      async ({ site, params }) => jobView(await context.jobs.get(site.siteId, params.jobId)),
      { role: 'admin', summary: 'Get a job', params: JobPath, response: JobView },
    )
    .put(
      '/:jobId',
      async ({ site, by, params, body }) =>
        jobView(await context.jobs.put(site.siteId, params.jobId, body, auditAs(context, by))),
      {
        role: 'admin',
        summary: 'Create or replace a job',
        changes: { audit: ['job.created', 'job.changed'], effects: [] },
        params: JobPath,
        body: JobBody,
        response: JobView,
      },
    )
    .post(
      '/:jobId',
      async ({ site, actor, by, request, params: { jobId }, body }) => {
        const trigger = parseTrigger(body)
        const scope = `POST /admin/data/jobs/${jobId} ${actor.userId}`
        const repeat = idempotentRequest(request, scope, body)
        const start = { jobId, trigger, audit: auditAs(context, by) }
        const data = await context.jobRuns.start(site.siteId, start, repeat)
        return { ok: true as const, data }
      },
      {
        role: 'admin',
        idempotent: 'Idempotency-Key',
        summary: 'Run a job now',
        errors: ['JobOverlap'],
        changes: { audit: ['job.started'], effects: [] },
        requestBody: optionalJsonBody(),
        params: JobPath,
        body: StartBody,
        response: StartedView,
      },
    )
    .use(jobRemovalRoutes(context))
    .use(jobRunRoutes(context))

const jobRemovalRoutes = (context: AppContext) =>
  new Elysia()
    .use(adminAuth(context))
    .delete(
      '/:jobId',
      async ({ site, by, params }) =>
        done(context.jobs.remove(site.siteId, params.jobId, auditAs(context, by))),
      {
        role: 'admin',
        summary: 'Delete a job',
        changes: { audit: ['job.deleted'], effects: [] },
        params: JobPath,
        response: Done,
      },
    )

const jobRunRoutes = (context: AppContext) =>
  new Elysia()
    .use(adminAuth(context))
    .get(
      '/:jobId/runs',
      async ({ site: { siteId }, params: { jobId }, query }) =>
        answerPage(context, { scope: [siteId, 'job-runs', jobId], query }, async (page) => {
          const { items, lastKey } = await context.jobRuns.list(siteId, jobId, page)
          return { items: items.map(listedRunView), lastKey }
        }),
      {
        role: 'admin',
        summary: 'List the runs of a job',
        params: JobPath,
        query: PageQuery,
        response: PageOf(ListedRunView),
      },
    )
    .get(
      '/:jobId/runs/:runId',
      async ({ site, params: { jobId, runId } }) =>
        runView(await context.jobRuns.get(site.siteId, jobId, runId)),
      { role: 'admin', summary: 'Get a run of a job', params: RunPath, response: RunView },
    )
