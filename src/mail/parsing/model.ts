import type { MailBounce, ParsedPart } from '#platform/mail-parser/mail-parser.ts'

/** An attachment as it is stored with its message; its bytes are in the object store under its id. */
export interface StoredAttachment extends ParsedPart {
  readonly attachmentId: string
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

/** The same for the same part at every attempt, so that none is stored twice. */
export const attachmentIdOf = (place: number): string => `att_${place}`
