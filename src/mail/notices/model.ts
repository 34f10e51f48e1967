/** For as long mail is tried: the retries of the queue, about. */
export const TRIED_FOR_MS = 48 * 3_600_000

/** A recipient that a sender is notified about. */
export interface TroubledRecipient {
  readonly recipient: string
  readonly action: 'delayed' | 'failed'
  /** What the gateway said last. */
  readonly reply: string
}

/** A message that was sent, and what its sender is notified of. */
export interface TroubledMessage {
  readonly mailboxId: string
  /** The address that sent it. */
  readonly mailbox: string
  readonly rawId: string
  /** Without brackets. */
  readonly headerId: string
  readonly subject: string
  readonly sentAt: Date
  readonly recipients: readonly TroubledRecipient[]
}
