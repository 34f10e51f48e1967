import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { idempotentRequest } from '#http/idempotency.ts'
import { MessageListQuery, answerMessages } from '#http/message-list.ts'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { MessagePath, SiteAddressPath, SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { MessageDetail, MessageListItem } from '#mail/messages/model.ts'
import { ReplyRequest, SendRequest, SentMessage, Suppression } from '#mail/sending/model.ts'

/** The messages of a site's mailboxes. Reading changes nothing: what was not seen stays so. */
export const portalMessageRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/messages' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site, query, request }) => answerMessages(context, site, operatorAt(request), query),
      {
        siteOperator: true,
        params: SitePath,
        query: MessageListQuery,
        response: PageOf(MessageListItem),
      },
    )
    .get(
      '/:messageId',
      async ({ site, params, request }) =>
        context.messages.get(site, operatorAt(request), params.messageId),
      {
        siteOperator: true,
        params: Type.Composite([SitePath, MessagePath]),
        response: MessageDetail,
      },
    )

/** Sending as any mailbox of a site. */
export const portalSendingRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/messages' })
    .use(operatorAuth(context))
    .post(
      '/send',
      async ({ site, body, request }) => {
        const repeat = idempotentRequest(request, 'POST /portal/api/messages/send', body)
        return context.sending.send(site, { reader: operatorAt(request), repeat }, body)
      },
      {
        siteOperator: true,
        changes: { audit: 'content', effects: [] },
        params: SitePath,
        body: SendRequest,
        response: SentMessage,
      },
    )
    .post(
      '/:messageId/reply',
      async ({ site, params: { messageId }, body, request }) => {
        const scope = `POST /portal/api/messages/reply ${messageId}`
        const repeat = idempotentRequest(request, scope, body)
        return context.sending.reply(site, { reader: operatorAt(request), repeat }, messageId, body)
      },
      {
        siteOperator: true,
        changes: { audit: 'content', effects: [] },
        params: Type.Composite([SitePath, MessagePath]),
        body: ReplyRequest,
        response: SentMessage,
      },
    )

/** Addresses that a site sends nothing to. */
export const portalSuppressionRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/mail-suppressions' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site: { siteId }, query }) =>
        answerPage(context, { scope: [siteId, 'operator', 'mail-suppressions'], query }, (page) =>
          context.suppressions.list(siteId, page),
        ),
      { siteOperator: true, params: SitePath, query: PageQuery, response: PageOf(Suppression) },
    )
    .delete(
      '/:address',
      async ({ site: { siteId }, params: { address }, request }) => {
        await context.suppressions.remove(siteId, operatorAt(request), address)
        return noContent()
      },
      {
        siteOperator: true,
        changes: { audit: ['mail-suppression.removed'], effects: [] },
        params: SiteAddressPath,
        responds: 'no-content',
      },
    )
