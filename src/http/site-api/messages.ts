import { Elysia } from 'elysia'

import { actorId } from '#base/actor.ts'
import { AppError, invalid } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody, optionalJsonBody } from '#http/bodies/request-body.ts'
import { idempotentRequest } from '#http/idempotency.ts'
import { MessageListQuery, answerMessages } from '#http/message-list.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf } from '#http/paging.ts'
import { MessagePath } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import {
  BulkPurgeRequest,
  BulkPurgeResult,
  MassPurgeResult,
  MessageDetail,
  MessageListItem,
  PurgeAllRequest,
  PurgeDeletedRequest,
  RestoreRequest,
  RestoredMessage,
  SeenChange,
  SeenMessage,
} from '#mail/messages/model.ts'
import {
  ReplyRequest,
  SendRequest,
  SentMessage,
  StageRequest,
  StagedAttachment,
} from '#mail/sending/model.ts'

const BULK_JSON_BYTES = 256 * 1024

/** The messages of mailboxes, to those who may read them. */
export const messageRoutes = siteFamily(
  { site: '/admin/api/messages', operator: '/messages', body: jsonBody(SHORT_JSON_BYTES) },
  (routes, context) =>
    routes
      .get('/', async ({ site, by, query }) => answerMessages(context, site, by, query), {
        role: 'user',
        summary: 'List messages',
        errors: ['MailboxNotFound'],
        query: MessageListQuery,
        response: PageOf(MessageListItem),
      })
      .get(
        '/:messageId',
        async ({ site, by, params }) => context.messages.get(site, by, params.messageId),
        { role: 'user', summary: 'Get a message', params: MessagePath, response: MessageDetail },
      ),
)

/** What those who may read a message may do to it. For admins alone: the operator’s reading changes nothing. */
export const messageChangeRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/messages' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .post(
      '/:messageId/seen',
      async ({ site, actor, params: { messageId }, body: { seen } }) => {
        await context.messageChanges.setSeen(site, actor, messageId, seen)
        return { id: messageId, seen }
      },
      {
        role: 'user',
        summary: 'Mark a message as seen or unseen',
        changes: { audit: 'content', effects: [] },
        params: MessagePath,
        body: SeenChange,
        response: SeenMessage,
      },
    )
    .post(
      '/:messageId/archive',
      async ({ site, actor, params }) => {
        await context.messageChanges.archive(site, actor, params.messageId)
        return noContent()
      },
      {
        role: 'user',
        summary: 'Archive a message',
        changes: { audit: 'content', effects: [] },
        requestBody: optionalJsonBody(SHORT_JSON_BYTES),
        params: MessagePath,
        responds: 'no-content',
      },
    )
    .post(
      '/:messageId/restore',
      async ({ site, actor, params: { messageId }, body }) => {
        if (body.messageId !== undefined && body.messageId !== messageId) {
          throw invalid('messageId', 'is another than in the path')
        }
        const folder = await context.messageChanges.restore(site, actor, messageId)
        return { id: messageId, deleted: false, folder }
      },
      {
        role: 'user',
        summary: 'Restore a deleted message',
        changes: { audit: 'content', effects: [] },
        requestBody: optionalJsonBody(SHORT_JSON_BYTES),
        params: MessagePath,
        body: RestoreRequest,
        response: RestoredMessage,
      },
    )

/** Sending messages: the operator as any mailbox of the site. */
export const messageSendingRoutes = siteFamily(
  { site: '/admin/api/messages', operator: '/messages', body: jsonBody() },
  (routes, context) =>
    routes
      .post(
        '/send',
        async ({ site, by, body, request }) => {
          const scope = `POST /admin/api/messages/send ${actorId(by)}`
          const repeat = idempotentRequest(request, scope, body)
          return context.sending.send(site, { reader: by, repeat }, body)
        },
        {
          role: 'user',
          idempotent: 'Idempotency-Key',
          summary: 'Send a message',
          errors: [
            'AttachmentTooLarge',
            'AttachmentsTooLarge',
            'InvalidAttachmentRef',
            'MailboxDisabled',
            'MailboxNotFound',
            'MessageTooLarge',
            'QuotaExceeded',
            'TooManyAttachments',
          ],
          changes: { audit: 'content', effects: [] },
          body: SendRequest,
          response: SentMessage,
        },
      )
      .post(
        '/:messageId/reply',
        async ({ site, by, params: { messageId }, body, request }) => {
          const scope = `POST /admin/api/messages/reply ${messageId} ${actorId(by)}`
          const repeat = idempotentRequest(request, scope, body)
          return context.sending.reply(site, { reader: by, repeat }, messageId, body)
        },
        {
          role: 'user',
          idempotent: 'Idempotency-Key',
          summary: 'Reply to a message',
          errors: [
            'AttachmentTooLarge',
            'AttachmentsTooLarge',
            'InvalidAttachmentRef',
            'InvalidTarget',
            'MailboxDisabled',
            'MailboxNotFound',
            'MessageTooLarge',
            'QuotaExceeded',
            'TooManyAttachments',
          ],
          changes: { audit: 'content', effects: [] },
          params: MessagePath,
          body: ReplyRequest,
          response: SentMessage,
        },
      ),
)

/** For admins alone. */
export const messageDeletionRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/messages' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .delete(
      '/:messageId',
      async ({ site, actor, params }) => {
        await context.messageChanges.delete(site, actor, params.messageId)
        return noContent()
      },
      {
        role: 'user',
        summary: 'Delete a message',
        changes: { audit: 'content', effects: [] },
        params: MessagePath,
        responds: 'no-content',
      },
    )

/** For admins alone: the operator’s messages carry their attachments. */
export const stagedAttachmentRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/messages' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .post(
      '/attachments',
      async ({ site, actor, body }) => context.stagedAttachments.stage(site, actor, body),
      {
        role: 'user',
        summary: 'Stage an attachment',
        errors: ['AttachmentTooLarge', 'MessageTooLarge', 'QuotaExceeded'],
        changes: { audit: 'staging', effects: [] },
        requestBody: jsonBody(SHORT_JSON_BYTES),
        body: StageRequest,
        response: StagedAttachment,
      },
    )

/** Deleting messages permanently. For admins alone. */
export const messagePurgeRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/messages' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .post(
      '/:messageId/purge',
      async ({ site, by, params }) => {
        await context.mailPurge.purge(site, by, params.messageId)
        return noContent()
      },
      {
        role: 'super-admin',
        summary: 'Purge a message',
        changes: { audit: ['messages.purged'], effects: [] },
        requestBody: optionalJsonBody(SHORT_JSON_BYTES),
        params: MessagePath,
        responds: 'no-content',
      },
    )
    .post(
      '/purge',
      async ({ site, by, body: { messageIds, force = false } }) =>
        context.mailPurge.purgeMany(site, by, { messageIds, force }),
      {
        role: 'super-admin',
        summary: 'Purge messages',
        changes: { audit: ['messages.purged'], effects: [] },
        requestBody: jsonBody(BULK_JSON_BYTES),
        body: BulkPurgeRequest,
        response: BulkPurgeResult,
      },
    )
    .use(massPurgeRoutes(context))

const massPurgeRoutes = (context: AppContext) =>
  new Elysia()
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .post(
      '/purge-deleted',
      async ({ site, by, body: { filters: { mailbox, includeTrash = false } = {}, ...asked } }) => {
        const dryRun = confirmed(asked, 'All deleted messages')
        const state = includeTrash ? ('trashed' as const) : ('deleted' as const)
        const mailboxId = mailbox && (await context.mailPurge.mailboxIdOf(site, mailbox))
        const filter = { state, ...(mailboxId !== undefined && { mailboxId }) }
        return context.mailPurge.purgeMatching(site, by, { filter, dryRun })
      },
      {
        role: 'super-admin',
        summary: 'Purge deleted messages',
        errors: ['ConfirmationRequired', 'MailboxNotFound'],
        changes: { audit: ['messages.purged'], effects: [] },
        requestBody: optionalJsonBody(SHORT_JSON_BYTES),
        body: PurgeDeletedRequest,
        response: MassPurgeResult,
      },
    )
    .post(
      '/purge-all',
      async ({ site, by, body }) => {
        const dryRun = confirmed(body, 'All messages of the site')
        return context.mailPurge.purgeMatching(site, by, { filter: {}, dryRun })
      },
      {
        role: 'super-admin',
        summary: 'Purge all messages of the site',
        errors: ['ConfirmationRequired'],
        changes: { audit: ['messages.purged'], effects: [] },
        requestBody: optionalJsonBody(SHORT_JSON_BYTES),
        body: PurgeAllRequest,
        response: MassPurgeResult,
      },
    )

/** Whether nothing is to be deleted but counted. */
function confirmed(
  { confirm, dryRun = false }: { readonly confirm?: boolean; readonly dryRun?: boolean },
  what: string,
): boolean {
  if (dryRun || confirm === true) return dryRun
  throw new AppError(
    'ConfirmationRequired',
    `${what} would be deleted permanently: send {"confirm": true}, or {"dryRun": true} to count them`,
  )
}
