import type { MailBounce, ParsedPart } from '#platform/mail-parser/mail-parser.ts'

/** A larger message, and one that took too much beside others, is parsed alone. */
export const LARGE_BYTES = 1024 * 1024

/** An attachment as it is stored with its message; its bytes are in the object store under its id, or the other one. */
export interface StoredAttachment extends ParsedPart {
  readonly attachmentId: string
  /** Of the object, where the bytes were made again and differ from those that the id was given to. */
  readonly objectId?: string
}

/** What becomes of a message once it was read, or given up. */
export interface MailContent {
  readonly status: 'parsed' | 'failed'
  readonly text: string
  readonly html: string | null
  readonly truncated: boolean
  readonly snippet: string
  readonly attachments: readonly StoredAttachment[]
  readonly bounce: MailBounce | null
}

/** Whether a message has files beside what its HTML shows. */
export const hasFiles = ({ attachments }: Pick<MailContent, 'attachments'>): boolean =>
  attachments.some(({ inline }) => !inline)

/** The same for the same part at every attempt, so that none is stored twice. */
export const attachmentIdOf = (place: number): string => `att_${place}`
