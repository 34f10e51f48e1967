import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** The sealed part of a waiting message. It keeps the site's domain of the time at which it was queued. */
const WaitingMessage = Type.Object({
  siteDomain: Type.String(),
  kind: Type.String(),
  to: Type.String(),
  subject: Type.String(),
  text: Type.String(),
  html: Type.String(),
  replyTo: Type.Optional(Type.String()),
})
export type WaitingMessage = Static<typeof WaitingMessage>

/** A message that its gateway refused, or that was tried for two days. Its text is deleted. */
export interface FailedMessage {
  readonly messageId: string
  readonly kind: string
  readonly to: string
  readonly attempts: number
  /** The last error of the gateway. */
  readonly error: string | null
  readonly createdAt: Date
  readonly failedAt: Date | null
}

export type DeliveryStatus = 'sent' | 'captured' | 'failed'

export const sealContext = (messageId: string): string => `outbound-mail:${messageId}`

export const senderOf = (domain: string): string => `no-reply@${domain}`

export const toBytes = (message: WaitingMessage): Buffer => Buffer.from(JSON.stringify(message))

export function fromBytes(bytes: Buffer): WaitingMessage {
  const message: unknown = JSON.parse(bytes.toString())
  if (Value.Check(WaitingMessage, message)) return message
  throw new Error('A waiting message does not have the shape of one')
}
