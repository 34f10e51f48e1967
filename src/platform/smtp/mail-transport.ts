/** One message as it leaves, beside what an operator reads of it. */
export interface RawMail {
  readonly messageId: string
  readonly siteId: string
  readonly siteDomain: string
  /** `invite`, `verification`, … */
  readonly kind: string
  /** Bare addresses: the envelope's. */
  readonly from: string
  readonly to: string
  readonly replyTo?: string | undefined
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly createdAt: Date
  /** RFC 5322 in ASCII with CRLF; the same bytes at every try. */
  readonly mime: Uint8Array
}

/** What a site's mailboxes, its code and its contact form send. Anything else is the service's own, and people wait for it. */
const KINDS_OF_SITES: ReadonlySet<string> = new Set(['mailbox', 'site', 'contact'])

export const isOfSite = (kind: string): boolean => KINDS_OF_SITES.has(kind)

/** Where mail leaves the service. */
export interface MailTransport extends AsyncDisposable {
  /** False when messages are kept for the operator to read. */
  readonly delivers: boolean
  /**
   * Resolves when the next server has accepted the message. Throws `MailRefused` when trying again is useless, and anything else
   * when it is not.
   */
  send(message: RawMail, signal: AbortSignal): Promise<void>
  /** Resolves when a message could be handed over now: connects and signs in, and sends nothing. */
  verify(): Promise<void>
}

/** The reply of a gateway that refuses a message permanently. */
export interface SmtpRefusal {
  readonly command: string | undefined
  readonly responseCode: number
  /** RFC 3463, where the answer has one: `5.1.1`. */
  readonly enhancedCode: string | undefined
}

/** The message will not be taken, now or later. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused'
  /** Undefined when no server had to be asked. */
  readonly refusal: SmtpRefusal | undefined

  constructor(message: string, refusal?: SmtpRefusal) {
    super(message)
    this.refusal = refusal
  }
}
