import type { Actor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  deleteContactRecipients,
  lockContactRecipients,
  selectContactRecipients,
  upsertContactRecipients,
} from './queries.ts'
import {
  type AddedContactRecipients,
  type ContactRecipient,
  MAX_CONTACT_RECIPIENTS,
  parseRecipients,
} from './recipient-model.ts'

/** The recipients of a site's contact form: addresses anywhere, as its admins say. */
export class ContactRecipients {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly events: Pick<SecurityEvents, 'record'>
    },
  ) {
    this.#deps = deps
  }

  /** All of them, by address. */
  async list(site: Site): Promise<readonly ContactRecipient[]> {
    const rows = await this.#deps.database.withSite(site.siteId, selectContactRecipients)
    return rows.map(({ email, createdAt, updatedAt }) => ({
      email,
      createdAt: createdAt.toISOString(),
      updatedAt: updatedAt.toISOString(),
    }))
  }

  /** Returns those that were named. One that is there already stays. 403 `QuotaExceeded` beyond what a site may have. */
  add(site: Site, by: Actor, recipients: readonly string[]): Promise<AddedContactRecipients> {
    const emails = parseRecipients(recipients)
    const { database, clock } = this.#deps
    return database.withSite(site.siteId, async (tx) => {
      await lockContactRecipients(tx)
      const before = (await selectContactRecipients(tx)).map(({ email }) => email)
      const added = emails.filter((email) => !before.includes(email))
      if (before.length + added.length > MAX_CONTACT_RECIPIENTS) {
        throw new AppError(
          'QuotaExceeded',
          `A site has at most ${MAX_CONTACT_RECIPIENTS} contact recipients`,
        )
      }
      await upsertContactRecipients(tx, emails, clock.now())
      await this.#record(tx, 'contact-recipients.added', by, added)
      return { items: emails.map((email) => ({ email })) }
    })
  }

  /** Those that are not there are no fault. */
  remove(site: Site, by: Actor, recipients: readonly string[]): Promise<void> {
    const emails = parseRecipients(recipients)
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const removed = await deleteContactRecipients(tx, emails)
      await this.#record(tx, 'contact-recipients.removed', by, removed)
    })
  }

  async #record(
    tx: SiteTx,
    event: 'contact-recipients.added' | 'contact-recipients.removed',
    by: Actor,
    changed: readonly string[],
  ): Promise<void> {
    if (changed.length === 0) return
    const detail = { recipients: changed.join(' ') }
    await this.#deps.events.record(tx, { event, pool: 'admin', by, detail })
  }
}
