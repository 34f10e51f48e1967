import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { addressOf } from '#mail/mailboxes/model.ts'
import type { Site } from '#sites/site.ts'

import type { StoredDetail } from './access-queries.ts'
import type { ListedRow } from './list-queries.ts'
import type { MessageDetail, MessageListItem } from './model.ts'

const NONE = 'none'

const People = Type.Object({
  to: Type.Array(Type.String()),
  cc: Type.Array(Type.String()),
  replyTo: Type.Array(Type.String()),
  authors: Type.Optional(Type.Array(Type.String())),
})

const Authentication = Type.Object({
  spf: Type.String(),
  dkim: Type.String(),
  dmarc: Type.String(),
})

type Row = Omit<ListedRow, 'mailboxId' | 'pageKey'>

/** A message as lists show it. */
export function listItemOf(
  site: Site,
  localPart: string,
  row: Row,
): Omit<MessageListItem, 'matches'> {
  const { messageId, fromAddress, receivedAt } = row
  const { folder, subject, hasAttachments, seen, threadId, snippet, deleted } = row
  return {
    id: messageId,
    mailbox: addressOf(site, localPart),
    folder,
    subject,
    hasAttachments,
    seen,
    from: fromAddress,
    to: peopleOf(row).to,
    threadId,
    snippet,
    receivedAt: receivedAt.toISOString(),
    deleted,
  }
}

/** What leads to objects: URLs that are signed when the message is read. */
type SignedParts = Pick<MessageDetail, 'attachments' | 'html' | 'rawUrl'>

/** A message as it is read. Before it was parsed, its headers and the raw message are all there is. */
export function detailOf(
  site: Site,
  row: StoredDetail,
  signed: SignedParts,
): Omit<MessageDetail, 'deliveries'> {
  const { cc, replyTo, authors } = peopleOf(row)
  return {
    ...listItemOf(site, row.localPart, row),
    ...signed,
    ...(authors && { authors }),
    cc,
    replyTo,
    text: row.text ?? '',
    messageId: row.headerId,
    inReplyTo: row.inReplyTo,
    references: [...row.referenceIds],
    authentication: authenticationOf(row.authentication),
    size: Number(row.sizeBytes),
    parsing: row.parseStatus,
    truncated: row.truncated ?? false,
  }
}

const peopleOf = ({ recipients }: Pick<Row, 'recipients'>): Static<typeof People> =>
  Value.Check(People, recipients) ? recipients : { to: [], cc: [], replyTo: [] }

const authenticationOf = (stored: unknown): MessageDetail['authentication'] => {
  if (!Value.Check(Authentication, stored)) return { spf: NONE, dkim: NONE, dmarc: NONE }
  const { spf, dkim, dmarc } = stored
  return { spf, dkim, dmarc }
}
