import { type Static, Type } from '@sinclair/typebox'

import { ClosedObject } from '#base/closed-object.ts'

const MAX_BULK = 1000

export type Folder = 'INBOX' | 'SENT' | 'ARCHIVE' | 'TRASH'
export const FOLDERS: readonly Folder[] = ['INBOX', 'SENT', 'ARCHIVE', 'TRASH']

const Ranges = Type.Array(Type.Object({ start: Type.Integer(), end: Type.Integer() }))

const MessageSummary = Type.Object({
  id: Type.String(),
  mailbox: Type.String(),
  folder: Type.String(),
  subject: Type.String(),
  hasAttachments: Type.Boolean(),
  seen: Type.Boolean(),
  from: Type.String(),
  to: Type.Array(Type.String()),
  threadId: Type.String(),
  /** The beginning of its text; in a search what is around its first match there. */
  snippet: Type.String(),
  receivedAt: Type.String(),
  deleted: Type.Boolean(),
})

/** A message that came to a mailbox, as lists show it. */
export const MessageListItem = Type.Composite(
  [
    MessageSummary,
    Type.Object({
      /** In a search: what of these texts it has found, from `start` up to `end` in UTF-16 units. */
      matches: Type.Optional(Type.Object({ subject: Ranges, from: Ranges, snippet: Ranges })),
    }),
  ],
  { title: 'ListedMessage' },
)
export type MessageListItem = Static<typeof MessageListItem>

const AttachmentDetail = Type.Object({
  attachmentId: Type.String(),
  filename: Type.String(),
  contentType: Type.String(),
  size: Type.Integer(),
  contentId: Type.Optional(Type.String()),
  inline: Type.Boolean(),
  /** Signed, for 15 minutes. */
  url: Type.String(),
  expiresAt: Type.String(),
})
export type AttachmentDetail = Static<typeof AttachmentDetail>

export const MessageDetail = Type.Composite(
  [
    MessageSummary,
    Type.Object({
      /** All of those in From, where there are several: `from` is the first. */
      authors: Type.Optional(Type.Array(Type.String())),
      cc: Type.Array(Type.String()),
      replyTo: Type.Array(Type.String()),
      text: Type.String(),
      /** Without scripts and remote content; null for a message that has none. */
      html: Type.Union([Type.String(), Type.Null()]),
      attachments: Type.Array(AttachmentDetail),
      /** Signed, for 15 minutes: the message, unchanged. */
      rawUrl: Type.String(),
      messageId: Type.Union([Type.String(), Type.Null()]),
      inReplyTo: Type.Union([Type.String(), Type.Null()]),
      references: Type.Array(Type.String()),
      authentication: Type.Object({
        spf: Type.String(),
        dkim: Type.String(),
        dmarc: Type.String(),
      }),
      size: Type.Integer(),
      /** While it is `pending`, and permanently once it `failed`, only headers and the raw message are there. */
      parsing: Type.Union([
        Type.Literal('pending'),
        Type.Literal('parsed'),
        Type.Literal('failed'),
      ]),
      /** Whether text or html were cut: the raw message has all of it. */
      truncated: Type.Boolean(),
      /** What became of a message that was sent from here, for each recipient; empty for one that came. */
      deliveries: Type.Array(
        Type.Object({
          recipient: Type.String(),
          status: Type.String(),
          attempts: Type.Integer(),
          /** What the gateway said last, or the bounce. */
          reply: Type.Union([Type.String(), Type.Null()]),
          updatedAt: Type.String(),
        }),
      ),
    }),
  ],
  { title: 'Message' },
)
export type MessageDetail = Static<typeof MessageDetail>

export const SeenChange = ClosedObject({ seen: Type.Boolean() })
export const SeenMessage = Type.Object({ id: Type.String(), seen: Type.Boolean() })
export const RestoreRequest = ClosedObject({ messageId: Type.Optional(Type.String()) })
export const RestoredMessage = Type.Object({
  id: Type.String(),
  deleted: Type.Boolean(),
  folder: Type.String(),
})
export type RestoredMessage = Static<typeof RestoredMessage>

export const BulkPurgeRequest = ClosedObject({
  messageIds: Type.Array(Type.String({ minLength: 1, maxLength: 128, pattern: '^[^\\u0000]*$' }), {
    minItems: 1,
    maxItems: MAX_BULK,
    fault: `must be a list of 1 to ${MAX_BULK} ids of messages`,
  }),
  /** True also purges what is neither in the trash nor deleted. */
  force: Type.Optional(Type.Boolean()),
})
export const BulkPurgeResult = Type.Object({
  purged: Type.Array(Type.String()),
  failed: Type.Array(
    Type.Object({ messageId: Type.String(), code: Type.String(), message: Type.String() }),
  ),
})
export type BulkPurgeResult = Static<typeof BulkPurgeResult>

export const PurgeDeletedRequest = ClosedObject({
  confirm: Type.Optional(Type.Boolean()),
  dryRun: Type.Optional(Type.Boolean()),
  filters: Type.Optional(
    ClosedObject({
      mailbox: Type.Optional(Type.String({ maxLength: 512 })),
      /** True also purges what is in the trash and not deleted from there. */
      includeTrash: Type.Optional(Type.Boolean()),
    }),
  ),
})
export const PurgeAllRequest = ClosedObject({
  confirm: Type.Optional(Type.Boolean()),
  dryRun: Type.Optional(Type.Boolean()),
})
export const MassPurgeResult = Type.Object(
  {
    matchedCount: Type.Integer(),
    deletedCount: Type.Integer(),
    /** Those that were not reached in the time of one request. */
    failedCount: Type.Integer(),
    dryRun: Type.Boolean(),
  },
  { title: 'PurgeResult' },
)
export type MassPurgeResult = Static<typeof MassPurgeResult>
