import { type Static, Type } from '@sinclair/typebox'

import { ClosedObject } from '#base/closed-object.ts'

export const MAX_CREDENTIALS = 20
const MAX_NAME_LENGTH = 100

export const CredentialRequest = ClosedObject({
  name: Type.String({
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    fault: `must be a name of 1 to ${MAX_NAME_LENGTH} characters, like "Thunderbird at home"`,
  }),
})

const SubmissionCredential = Type.Object({
  credentialId: Type.String(),
  name: Type.String(),
  /** Id of a user of the admin pool, or `operator`. */
  createdBy: Type.String(),
  createdAt: Type.String(),
  /** To the hour; null for one that was never used. */
  lastUsedAt: Type.Union([Type.String(), Type.Null()]),
})
export type SubmissionCredential = Static<typeof SubmissionCredential>

export const CredentialList = Type.Object(
  {
    mailbox: Type.String(),
    items: Type.Array(SubmissionCredential),
    nextToken: Type.Union([Type.String(), Type.Null()]),
  },
  { title: 'SubmissionCredentials' },
)
export type MailboxCredentials = Omit<Static<typeof CredentialList>, 'nextToken'>

/** What a mail program is set up with. The password is shown this once. */
export const CreatedCredential = Type.Object({
  ...SubmissionCredential.properties,
  mailbox: Type.String(),
  server: Type.Object({
    host: Type.String(),
    port: Type.Integer(),
    security: Type.Literal('STARTTLS'),
  }),
  username: Type.String(),
  password: Type.String(),
})
export type CreatedCredential = Static<typeof CreatedCredential>

/** Who a mail program speaks for. */
export interface SubmissionLogin {
  readonly siteId: string
  readonly domain: string
  readonly credentialId: string
  readonly mailboxId: string
  readonly localPart: string
}
