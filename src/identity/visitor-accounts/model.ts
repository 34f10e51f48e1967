import { type Static, Type } from '@sinclair/typebox'

import { EmailAddress } from '#identity/email.ts'

/** `INVITED` is never a visitor's: they sign up, a provider brings them, or the operator makes them. */
export const VisitorStatus = Type.Union([
  Type.Literal('ACTIVE'),
  Type.Literal('DISABLED'),
  /** Its owner deletes it: it takes no sign-in, and it goes at `deletedAt` unless it is restored. */
  Type.Literal('DELETING'),
])
export type VisitorStatus = Static<typeof VisitorStatus>

const VisitorFields = {
  sub: Type.String(),
  /** The address, with which a visitor signs in. */
  username: Type.String(),
  emailVerified: Type.Boolean(),
  status: VisitorStatus,
  /** How the account came to be: `sign-up`, `provider` or `operator`. */
  origin: Type.String(),
  createdAt: Type.Date(),
  updatedAt: Type.Date(),
  /** When the account goes that its owner deletes; null for every other. */
  deletedAt: Type.Union([Type.Date(), Type.Null()]),
}

/** A visitor as lists show them. */
export const VisitorAccount = Type.Object(VisitorFields, { title: 'Visitor' })
export type VisitorAccount = Static<typeof VisitorAccount>

/** A visitor with what hangs on the account. */
export const VisitorAccountDetail = Type.Object(
  {
    ...VisitorFields,
    groups: Type.Array(Type.String()),
    signInMethods: Type.Array(Type.Union([Type.Literal('password'), Type.Literal('google')])),
    /** Whether signing in takes an authenticator app beside the password. */
    secondFactor: Type.Boolean(),
    /** When a sign-in of theirs that has not ended was used last, to the minute; null without one. */
    lastSeenAt: Type.Union([Type.Date(), Type.Null()]),
  },
  { title: 'VisitorDetail' },
)
export type VisitorAccountDetail = Static<typeof VisitorAccountDetail>

/** Which visitors. */
export interface VisitorSearch {
  /** Exactly this address. */
  readonly email?: string | undefined
  /** What the address begins with. */
  readonly q?: string | undefined
  readonly status?: VisitorStatus | undefined
}

/** The query of a search, beside that of its page. */
export const VisitorSearchFields = {
  email: Type.Optional(EmailAddress),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 254,
      pattern: '^[^\\u0000]*$',
      fault: 'must be 1 to 254 characters, none of them NUL',
    }),
  ),
  status: Type.Optional(VisitorStatus),
}
