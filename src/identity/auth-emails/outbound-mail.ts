import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

/** A finished message that the service sends in a site's name. */
export interface OutboundMessage {
  /** For logs and the outbox: `invite`, `verification`, … */
  readonly kind: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Where answers go; a bare address. */
  readonly replyTo?: string
}

/** Mail's side of identity's messages: durable from the commit on, retried until it left or is given up. */
export interface OutboundMail {
  readonly delivers: boolean
  enqueue(tx: SiteTx, site: Site, message: OutboundMessage): Promise<void>
}
