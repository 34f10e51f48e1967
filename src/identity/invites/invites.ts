import type { UserActor } from '#base/actor.ts'
import type { AuthEmails } from '#identity/auth-emails/auth-emails.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { User } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'
import type { PlatformServices } from '#platform/services.ts'
import { adminBaseUrl } from '#sites/base-url.ts'
import type { Site } from '#sites/site.ts'

import { INVITE_LIFETIME_MS, onboardingUrl } from './model.ts'
import {
  deleteUnusedInvites,
  insertInvite,
  lockInvited,
  markInviteUsed,
  selectInvitee,
  selectUserLanguage,
} from './queries.ts'

/** A link on its way to the invited person. */
export interface SentInvite {
  readonly url: string
  readonly recipient: string
  /** Whether a gateway takes the message; without one it is in the outbox. */
  readonly delivers: boolean
}

/** Who sends an invite: an admin, or the invited person again. */
type InvitedBy = Pick<UserActor, 'userId' | 'origin'>

/** Links with which invited people take their accounts: good for seven days, once, known to us only as hashes. */
export class Invites {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'ids' | 'clock'> & {
      readonly baseUrl: string
      readonly authEmails: AuthEmails
      readonly events: SecurityEvents
    },
  ) {
    this.#deps = deps
  }

  /** A new link by mail; it ends the ones that the user has not used. Without `by` it is the operator who invites. */
  async send(tx: SiteTx, site: Site, user: User, by?: InvitedBy): Promise<SentInvite> {
    const { sub, email } = user
    const recipient = user.externalEmail ?? email
    const { url, expiresAt } = await this.#issue(tx, site, user)
    const mail = { kind: 'invite', to: recipient, url, expiresAt } as const
    const language = by?.origin.language ?? (await languageOf(tx, user, by))
    await this.#deps.authEmails.send(tx, site, mail, { language })
    await this.#deps.events.record(tx, {
      event: 'invite.sent',
      pool: 'admin',
      sub,
      email,
      actor: by?.userId ?? 'operator',
      origin: by?.origin,
      detail: { recipient },
    })
    return { url, recipient, delivers: this.#deps.authEmails.delivers }
  }

  /** Who was invited; undefined when the token is unknown, used or too old. Using it up is part of the caller's transaction. */
  async redeem(tx: SiteTx, token: string): Promise<UserKey | undefined> {
    const [tokenHash, now] = [hashSecret(token), this.#deps.clock.now()]
    const invitee = await selectInvitee(tx, tokenHash, now)
    if (!invitee || !(await lockInvited(tx, invitee))) return undefined
    return markInviteUsed(tx, tokenHash, now)
  }

  async #issue(tx: SiteTx, site: Site, user: User): Promise<{ url: string; expiresAt: Date }> {
    const token = this.#deps.ids.secret()
    const createdAt = this.#deps.clock.now()
    const expiresAt = new Date(createdAt.getTime() + INVITE_LIFETIME_MS)
    await deleteUnusedInvites(tx, user)
    await deleteExpired(tx, 'user_invite', createdAt)
    const { userPoolId, sub } = user
    await insertInvite(tx, { tokenHash: hashSecret(token), userPoolId, sub, createdAt, expiresAt })
    const base = adminBaseUrl(this.#deps.baseUrl, site)
    return { url: onboardingUrl(base, user.role, token), expiresAt }
  }
}

/** That in which the admin who invites last signed in. */
const languageOf = async (
  tx: SiteTx,
  { userPoolId }: User,
  by: InvitedBy | undefined,
): Promise<string | undefined> =>
  by && (await selectUserLanguage(tx, { userPoolId, sub: by.userId }))
