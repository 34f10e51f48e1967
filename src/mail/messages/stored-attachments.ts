import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const StoredAttachments = Type.Array(
  Type.Object({
    attachmentId: Type.String(),
    objectId: Type.Optional(Type.String()),
    filename: Type.String(),
    contentType: Type.String(),
    sizeBytes: Type.Integer(),
    contentId: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    inline: Type.Boolean(),
  }),
)

type StoredPart = Static<typeof StoredAttachments>[number]

/** What a row says of the attachments of a message; none where it was not parsed. */
export const storedAttachments = (stored: unknown): Static<typeof StoredAttachments> =>
  Value.Check(StoredAttachments, stored) ? stored : []

/** The name of its object among the parts of the message. */
export const objectIdOf = ({
  attachmentId,
  objectId,
}: Pick<StoredPart, 'attachmentId' | 'objectId'>): string => objectId ?? attachmentId
