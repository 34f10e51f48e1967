import type { Language } from './language.ts'

/** Where a request comes from, as far as we can tell: for sessions, back-off and the audit trail. */
export interface RequestOrigin {
  /** The peer, or what a trusted proxy says the peer is. */
  readonly address: string
  /** At most 256 characters, without control characters. */
  readonly userAgent: string
  readonly requestId: string
  /** What the sender reads; for mail to recipients who have no language of their own. */
  readonly language?: Language | undefined
}
