import { type Static, Type } from '@sinclair/typebox'

import type { UserActor } from '#base/actor.ts'
import { EmailAddress, canonicalEmail } from '#identity/email.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { Users } from '#identity/users/users.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import type { Onboarding } from '#sites/site-lifecycle.ts'
import type { Site } from '#sites/site.ts'

import type { Invites } from './invites.ts'

const MAX_AT_ONCE = 100

export const InviteResendRequest = Type.Object(
  { superAdminEmails: Type.Optional(Type.Array(EmailAddress, { maxItems: MAX_AT_ONCE })) },
  { additionalProperties: false },
)
export type InviteResendRequest = Static<typeof InviteResendRequest>

export const ResentInvites = Type.Object({
  matchedCount: Type.Integer(),
  resentCount: Type.Integer(),
  status: Type.Literal('sent'),
})
export type ResentInvites = Static<typeof ResentInvites>

/** Invitations of super-admins who have not come yet. */
export class SuperAdminInvites {
  readonly #deps

  constructor(deps: {
    readonly database: Database
    readonly directory: PoolDirectory
    readonly users: Users
    readonly invites: Invites
  }) {
    this.#deps = deps
  }

  /** An invited account for each address, in the transaction that creates the site. */
  async invite(
    tx: SiteTx,
    site: Site,
    userPoolId: string,
    emails: readonly string[],
  ): Promise<readonly Onboarding[]> {
    const onboarding: Onboarding[] = []
    for (const user of await this.#deps.users.inviteSuperAdmins(tx, userPoolId, emails)) {
      const { url } = await this.#deps.invites.send(tx, site, user)
      onboarding.push({ email: user.email, url })
    }
    return onboarding
  }

  /** New links for those who are named, by either address, or for all; at most 100. The links that they had end. */
  async resend(
    site: Site,
    by: UserActor,
    { superAdminEmails = [] }: InviteResendRequest,
  ): Promise<ResentInvites> {
    const { admin } = await this.#deps.directory.get(site)
    const emails = [...new Set(superAdminEmails.map(canonicalEmail))]
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const pending = await this.#deps.users.lockInvitedSuperAdmins(tx, admin.userPoolId, {
        emails,
        limit: MAX_AT_ONCE,
      })
      for (const user of pending) await this.#deps.invites.send(tx, site, user, by)
      return { matchedCount: pending.length, resentCount: pending.length, status: 'sent' }
    })
  }
}
