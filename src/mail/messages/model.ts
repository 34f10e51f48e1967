import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { parseTime } from '#base/parse-time.ts'
import { type SearchTerm, parseSearch } from '#mail/search/parse-search.ts'

const MAX_BULK = 1000

export type Folder = 'INBOX' | 'SENT' | 'ARCHIVE' | 'TRASH'
const FOLDERS: readonly Folder[] = ['INBOX', 'SENT', 'ARCHIVE', 'TRASH']

/** A message that came to a mailbox, as lists show it. */
export const MessageListItem = Type.Object({
  id: Type.String(),
  mailbox: Type.String(),
  folder: Type.String(),
  subject: Type.String(),
  hasAttachments: Type.Boolean(),
  seen: Type.Boolean(),
  from: Type.String(),
  to: Type.Array(Type.String()),
  threadId: Type.String(),
  /** The beginning of its text. */
  snippet: Type.String(),
  receivedAt: Type.String(),
  deleted: Type.Boolean(),
})
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

export const MessageDetail = Type.Composite([
  MessageListItem,
  Type.Object({
    cc: Type.Array(Type.String()),
    replyTo: Type.Array(Type.String()),
    text: Type.String(),
    /** Without scripts and remote content; null for a message that has none. */
    html: Type.Union([Type.String(), Type.Null()]),
    attachments: Type.Array(AttachmentDetail),
    /** Signed, for 15 minutes: the message as it came. */
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
    /** While it is `pending`, and for good once it `failed`, only headers and the raw message are there. */
    parsing: Type.Union([Type.Literal('pending'), Type.Literal('parsed'), Type.Literal('failed')]),
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
])
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
export const MassPurgeResult = Type.Object({
  matchedCount: Type.Integer(),
  deletedCount: Type.Integer(),
  /** Those that were not reached in the time of one request. */
  failedCount: Type.Integer(),
  dryRun: Type.Boolean(),
})
export type MassPurgeResult = Static<typeof MassPurgeResult>

/** Which messages of the mailboxes that somebody may read. */
export interface MessageFilter {
  readonly folders: readonly FolderState[]
  /** Inclusive. */
  readonly from: Date | undefined
  /** Exclusive. */
  readonly until: Date | undefined
  readonly threadId: string | undefined
  readonly seen: boolean | undefined
  readonly search: readonly SearchTerm[]
}

/** A folder, and whether what was deleted from it is meant: only from the trash can anything be. */
export interface FolderState {
  readonly folder: Folder
  readonly deleted: boolean
}

/** What the query of a list may say; the second and third names of a time mean the same as the first. */
export interface MessageQuery {
  readonly folder?: string
  readonly includeDeleted?: string
  readonly startTime?: string
  readonly from?: string
  readonly since?: string
  readonly after?: string
  readonly endTime?: string
  readonly to?: string
  readonly until?: string
  readonly before?: string
  readonly threadId?: string
  readonly seen?: string
  readonly q?: string
}

/** Without a folder: all but the trash, as web mail shows all mail; with `includeDeleted` that, too. */
export function parseMessageFilter(query: MessageQuery): MessageFilter {
  const folder = query.folder === undefined ? undefined : parseFolder(query.folder)
  const includeDeleted = parseFlag('includeDeleted', query.includeDeleted) ?? false
  return {
    folders: foldersOf(folder, includeDeleted),
    from: parseTime('startTime', query.startTime ?? query.from ?? query.since ?? query.after),
    until: parseTime('endTime', query.endTime ?? query.to ?? query.until ?? query.before),
    threadId: query.threadId,
    seen: parseFlag('seen', query.seen),
    search: query.q === undefined ? [] : parseSearch(query.q),
  }
}

function foldersOf(folder: Folder | undefined, includeDeleted: boolean): readonly FolderState[] {
  const live = (folder === undefined ? FOLDERS : [folder]).filter(
    (each) => each !== 'TRASH' || includeDeleted || folder === 'TRASH',
  )
  const states = live.map((each) => ({ folder: each, deleted: false }))
  return includeDeleted && live.includes('TRASH')
    ? [...states, { folder: 'TRASH', deleted: true }]
    : states
}

function parseFolder(text: string): Folder {
  const folder = FOLDERS.find((name) => name === text.toUpperCase())
  if (!folder) throw invalid('folder', `must be one of ${FOLDERS.join(', ')}`)
  return folder
}

function parseFlag(field: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (text !== 'true' && text !== 'false') throw invalid(field, 'must be "true" or "false"')
  return text === 'true'
}
