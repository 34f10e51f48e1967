import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** What is sealed while a message waits: as decided when it was sent, whatever becomes of the site's name meanwhile. */
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

/** A message that its gateway refused, or that was tried for two days. What it said is forgotten. */
export interface FailedMessage {
  readonly messageId: string
  readonly kind: string
  readonly to: string
  readonly attempts: number
  /** What the gateway said last. */
  readonly error: string | null
  readonly createdAt: Date
  readonly failedAt: Date | null
}

export type Outcome = 'sent' | 'captured' | 'failed'

export const sealContext = (messageId: string): string => `outbound-mail:${messageId}`

export const senderOf = (domain: string): string => `no-reply@${domain}`

export const toBytes = (message: WaitingMessage): Buffer => Buffer.from(JSON.stringify(message))

export function fromBytes(bytes: Buffer): WaitingMessage {
  const message: unknown = JSON.parse(bytes.toString())
  if (Value.Check(WaitingMessage, message)) return message
  throw new Error('A waiting message does not have the shape of one')
}
