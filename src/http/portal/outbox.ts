import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import type { AppContext } from '#context'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { canonicalEmail } from '#identity/email.ts'
import { CapturedMessage } from '#platform/smtp/outbox.ts'

const Filter = t.Object({
  to: t.Optional(t.String({ maxLength: 254 })),
  /** An id, or the site's domain. */
  site: t.Optional(t.String({ maxLength: 253 })),
})

/** The mail that an installation without a gateway has kept. */
export const portalOutboxRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/outbox' }).use(operatorAuth(context)).get(
    '/',
    async ({ query }) => {
      const filter = {
        to: query.to === undefined ? undefined : canonicalEmail(query.to),
        siteId:
          query.site === undefined ? undefined : (await context.sites.find(query.site)).siteId,
      }
      const scope = ['portal', 'outbox', JSON.stringify(filter)]
      return answerPage(context, { scope, query }, (page) => context.outbox.list(filter, page))
    },
    {
      operator: true,
      summary: 'List captured mail',
      errors: ['SiteNotFound'],
      query: t.Composite([Filter, PageQuery]),
      response: PageOf(CapturedMessage),
    },
  )

const FailedMail = Type.Object({
  messageId: Type.String(),
  kind: Type.String(),
  to: Type.String(),
  attempts: Type.Integer(),
  error: Type.Union([Type.String(), Type.Null()]),
  createdAt: Type.Date(),
  failedAt: Type.Union([Type.Date(), Type.Null()]),
})

/** The mail of a site that was given up, newest first. */
export const portalFailedMailRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/failed-mail' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site: { siteId }, query }) =>
        answerPage(context, { scope: [siteId, 'failed-mail'], query }, (page) =>
          context.outboundMessages.listFailed(siteId, page),
        ),
      {
        siteOperator: true,
        summary: 'List mail that could not be sent',
        params: SitePath,
        query: PageQuery,
        response: PageOf(FailedMail),
      },
    )
