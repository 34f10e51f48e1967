import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { EmailAddress } from '#identity/email.ts'
import { envelopeAddress } from '#platform/smtp/mail-address.ts'

import { cleanLine, cleanLines } from './clean-text.ts'

const MAX_KEYS = 20
const MAX_VALUE = 500
const KEY = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]{1,100}$'

const optionalText = (maxLength: number) =>
  Type.Optional(
    Type.String({ maxLength, fault: `must be text of at most ${maxLength} characters` }),
  )

/** The fields of a filled form. Text that is left out and text that is empty are the same. */
export const ContactSubmission = ClosedObject({
  name: optionalText(200),
  email: EmailAddress,
  phone: optionalText(40),
  subject: optionalText(200),
  message: Type.String({
    minLength: 1,
    maxLength: 5000,
    fault: 'must be text of 1 to 5000 characters',
  }),
  metadata: Type.Optional(
    Type.Record(Type.String({ pattern: KEY }), Type.String({ maxLength: MAX_VALUE }), {
      maxProperties: MAX_KEYS,
      additionalProperties: false,
      fault: `must be an object of at most ${MAX_KEYS} texts of at most ${MAX_VALUE} characters, under keys of 1 to 100`,
    }),
  ),
  /** The honeypot: a field that the page hides from people, so that only a program fills it. */
  website: optionalText(2000),
})
export type ContactSubmission = Static<typeof ContactSubmission>

export const ContactAnswer = Type.Object({ messageId: Type.String() })
export type ContactAnswer = Static<typeof ContactAnswer>

/** What is mailed: every text of one line but the message, and without control characters. */
export interface ContactRequest {
  readonly email: string
  /** The address in ASCII; undefined where its local part is not, which only some mail servers can carry (RFC 6531). */
  readonly replyTo: string | undefined
  readonly name: string
  readonly phone: string
  readonly subject: string
  readonly message: string
  readonly metadata: readonly (readonly [key: string, value: string])[]
}

/** Throws a `ValidationError` for an address that cannot be replied to, and for a message without words. */
export function parseSubmission(submission: ContactSubmission): ContactRequest {
  const { email, name = '', phone = '', subject = '', metadata = {} } = submission
  // An encoded word (RFC 2047) has no place in an address, and some programs decode it there.
  const envelope = envelopeAddress(email)
  if (envelope === undefined || email.includes('=?')) {
    throw invalid('email', 'must be an email address')
  }
  const message = cleanLines(submission.message)
  if (message === '') throw invalid('message', 'must have words')
  return {
    email,
    replyTo: /^[\x21-\x7e]+$/.test(envelope) ? envelope : undefined,
    name: cleanLine(name),
    phone: cleanLine(phone),
    subject: cleanLine(subject),
    message,
    metadata: Object.entries(metadata).map(([key, value]) => [cleanLine(key), cleanLine(value)]),
  }
}
