import { type Static, Type } from '@sinclair/typebox'

import { EmailAddress, OptionalAddress } from '#identity/email.ts'

const closed = { additionalProperties: false }

const RoleName = Type.Union([
  Type.Literal('user'),
  Type.Literal('admin'),
  Type.Literal('super-admin'),
])

export const NewAdminUser = Type.Object(
  {
    email: EmailAddress,
    role: Type.Optional(RoleName),
    externalEmail: Type.Optional(OptionalAddress),
  },
  closed,
)
export type NewAdminUser = Static<typeof NewAdminUser>

export const RoleChange = Type.Object({ role: RoleName }, closed)
export type RoleChange = Static<typeof RoleChange>

const AdminUserFields = {
  userId: Type.String(),
  email: Type.String(),
  role: RoleName,
  externalEmail: Type.Union([Type.String(), Type.Null()]),
  status: Type.Union([Type.Literal('INVITED'), Type.Literal('ACTIVE')]),
}

/** A member of the admin pool as its admins see it. */
export const AdminUser = Type.Object(AdminUserFields, { title: 'AdminUser' })
export type AdminUser = Static<typeof AdminUser>

export const CreatedAdminUser = Type.Object(
  {
    ...AdminUserFields,
    /** False when no mail gateway is configured: the invitation is in the outbox then. */
    inviteSent: Type.Boolean(),
    inviteRecipient: Type.String(),
  },
  { title: 'InvitedAdminUser' },
)
export type CreatedAdminUser = Static<typeof CreatedAdminUser>

/** Which members, by either of their addresses. */
export interface AdminUserSearch {
  readonly email?: string | undefined
  /** What an address begins with. */
  readonly q?: string | undefined
}
