export interface Attachment {
  readonly filename: string
  readonly contentType: string
  /** Its bytes: at most 10 MiB of them, in standard base64. */
  readonly contentBase64: string
}

export interface Email {
  /** The address of the site's mailbox that it comes from. */
  readonly mailbox: string
  readonly to: string | readonly string[]
  readonly cc?: readonly string[]
  readonly bcc?: readonly string[]
  readonly replyTo?: string
  readonly subject: string
  readonly text?: string
  readonly html?: string
  /** At most 10, of 15 MiB together. */
  readonly attachments?: readonly Attachment[]
  /** A whole message (RFC 5322) in base64: at most 25 MiB of it. */
  readonly raw?: string
}

export interface SentEmail {
  readonly id: string
  readonly threadId: string
}
