/**
 * What the process that parses mail is asked and answers. A request is the size of a message, a u32 in little endian, and
 * its bytes. An answer is a frame with JSON of `MailParserAnswer`; for a message that was parsed, the bytes of its text, of
 * its HTML and of its attachments follow, one behind the other.
 */
export type MailParserAnswer =
  | { readonly ready: true }
  /** Why no parser can parse the message. */
  | { readonly broken: string }
  | { readonly parsed: MailOutline }

export interface MailOutline {
  readonly textBytes: number
  /** Null when the message has no HTML. */
  readonly htmlBytes: number | null
  /** Whether text or HTML were cut at their bounds, or attachments left out. */
  readonly truncated: boolean
  /** The beginning of what a reader sees. */
  readonly snippet: string
  readonly attachments: readonly MailPart[]
  readonly bounce: Bounce | null
}

export interface MailPart {
  readonly filename: string
  readonly contentType: string
  readonly sizeBytes: number
  /** Without its brackets. */
  readonly contentId: string | null
  /** Whether the HTML refers to it, and shows it there. */
  readonly inline: boolean
}

/** What a mail server, or a person's own program, says of a message that was sent. */
export interface Bounce {
  /** An `autoReply` came from the recipient's program: the message arrived. */
  readonly kind: 'failed' | 'delayed' | 'delivered' | 'autoReply'
  readonly recipient: string | null
  /** RFC 3463: `5.1.1`. */
  readonly status: string | null
  /** RFC 3464 §2.3.3. */
  readonly action: string | null
  readonly diagnostic: string | null
  /** Message-ID of what was sent, without its brackets. */
  readonly originalMessageId: string | null
}
