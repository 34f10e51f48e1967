import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { EmailAddress, canonicalEmail } from '#identity/email.ts'
import { envelopeAddress } from '#platform/smtp/mail-address.ts'

export const MAX_CONTACT_RECIPIENTS = 20

const FAULT = `must be a list of 1 to ${MAX_CONTACT_RECIPIENTS} email addresses`
const Recipients = Type.Array(EmailAddress, {
  minItems: 1,
  maxItems: MAX_CONTACT_RECIPIENTS,
  fault: FAULT,
})

export const ContactRecipientList = ClosedObject({ recipients: Recipients })
export const OptionalContactRecipientList = ClosedObject({
  recipients: Type.Optional(Recipients),
})

export const ContactRecipient = Type.Object(
  {
    email: Type.String(),
    createdAt: Type.String(),
    updatedAt: Type.String(),
  },
  { title: 'ContactRecipient' },
)
export type ContactRecipient = Static<typeof ContactRecipient>

export const AddedContactRecipients = Type.Object({
  items: Type.Array(Type.Object({ email: Type.String() })),
})
export type AddedContactRecipients = Static<typeof AddedContactRecipients>

/** Each once, as it is stored. Refuses what mail cannot be sent to. */
export function parseRecipients(recipients: readonly string[]): readonly string[] {
  if (!Value.Check(Recipients, recipients)) throw invalid('recipients', FAULT)
  const emails = recipients.map((recipient, at) => {
    const email = canonicalEmail(recipient)
    if (envelopeAddress(email) !== undefined) return email
    throw invalid(`recipients[${at}]`, 'must be an email address')
  })
  return [...new Set(emails)].toSorted()
}
