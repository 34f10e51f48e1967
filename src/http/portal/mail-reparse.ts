import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { ClosedObject } from '#base/closed-object.ts'
import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, optionalJsonBody } from '#http/bodies/request-body.ts'
import { operatorAt } from '#http/operator-at.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { ReparseProgress } from '#mail/reparsing/model.ts'

/** `again` also for messages that this version has parsed. */
const Start = ClosedObject({ again: Type.Optional(Type.Boolean()) })

/** Parsing and indexing the stored messages of a site again, in the background. */
export const portalMailReparseRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/mail-reparse' })
    .use(operatorAuth(context))
    .get('/', async ({ site: { siteId } }) => context.mailReparsing.progress(siteId), {
      siteOperator: true,
      summary: 'Get how far messages are parsed again',
      params: SitePath,
      response: ReparseProgress,
    })
    .post(
      '/',
      async ({ site: { siteId }, request, body: { again = false } }) =>
        context.mailReparsing.start(siteId, operatorAt(request), { again }),
      {
        siteOperator: true,
        summary: 'Parse messages again',
        changes: { audit: ['mail.reparse-started'], effects: [] },
        requestBody: optionalJsonBody(SHORT_JSON_BYTES),
        params: SitePath,
        body: Start,
        response: ReparseProgress,
      },
    )
