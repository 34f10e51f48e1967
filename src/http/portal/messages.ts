import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { MessageListQuery, answerMessages } from '#http/message-list.ts'
import { PageOf } from '#http/paging.ts'
import { MessagePath, SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { OPERATOR } from '#identity/security-events/model.ts'
import type { MailReader } from '#mail/mailboxes/service.ts'
import { MessageDetail, MessageListItem } from '#mail/messages/model.ts'

/** May read every mailbox, as the site's super-admins may. */
const READER: MailReader = { userId: OPERATOR, role: 'super-admin' }

/** The messages of a site's mailboxes. Reading changes nothing: what was not seen stays so. */
export const portalMessageRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/messages' })
    .use(operatorAuth(context))
    .get('/', async ({ site, query }) => answerMessages(context, site, READER, query), {
      siteOperator: true,
      params: SitePath,
      query: MessageListQuery,
      response: PageOf(MessageListItem),
    })
    .get(
      '/:messageId',
      async ({ site, params, set }) => {
        // The signed URLs are as good as the message itself.
        set.headers['cache-control'] = 'no-store'
        return context.messages.get(site, READER, params.messageId)
      },
      {
        siteOperator: true,
        params: Type.Composite([SitePath, MessagePath]),
        response: MessageDetail,
      },
    )
