import type { MailHeaders } from '#mail/headers/mail-headers.ts'

/** What was found out about who sent a message, in the words of RFC 8601, as it is stored and shown. */
export interface MessageAuthentication {
  readonly spf: string
  readonly dkim: string
  readonly dmarc: string
  readonly arc: string
  /** What SPF was asked for: the domain of the envelope sender, or the name in HELO. */
  readonly spfDomain: string | null
  /** Whose signatures are good. */
  readonly dkimDomains: readonly string[]
  /** The domain in From, and what it asks to do with messages that fail. */
  readonly fromDomain: string | null
  readonly dmarcPolicy: string | null
}

/** Who handed a message to us, as it is stored. Without an address: a site of this installation. */
interface ReceivedFrom {
  readonly address: string
  readonly heloName: string
  readonly protocol: string
  readonly tls: { readonly version: string; readonly cipher: string } | null
}

/** One mailbox that a message is for, and the address that led there. */
export interface Delivery {
  readonly mailboxId: string
  readonly recipient: string
}

/** A message whose bytes are safe in the object store, before its rows are there. */
export interface InboundMessage {
  readonly rawId: string
  readonly sizeBytes: number
  readonly sha256: Buffer
  /** Empty: the null sender. */
  readonly sender: string
  readonly from: ReceivedFrom
  readonly traceHeader: string
  readonly authentication: MessageAuthentication
  /** From a bounded look at what it begins with. */
  readonly headers: MailHeaders
  readonly receivedAt: Date
  readonly deliveries: readonly Delivery[]
  /** The recipients of a message that is sent from here, or its own id: the same bytes with others are another message. */
  readonly envelopeTo?: readonly string[]
  /** Names a message of this installation's own at each attempt to deliver it: then it is the same, whatever its bytes. */
  readonly localKey?: string
}
