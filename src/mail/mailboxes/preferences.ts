import type { Actor } from '#base/actor.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import type { MailboxChanges } from './mailbox-changes.ts'
import type { Mailboxes } from './mailboxes.ts'
import {
  type MailboxSettings,
  type MailboxSettingsChange,
  type OwnedMailbox,
  addressOf,
} from './model.ts'
import { selectSettings, updateSettings } from './queries.ts'

/** What is set about a mailbox, and what it uses. */
export class MailboxPreferences {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly mailboxes: Pick<Mailboxes, 'readable'>
      readonly mailboxChanges: MailboxChanges
    },
  ) {
    this.#deps = deps
  }

  get(site: Site, reader: Actor, address: string): Promise<MailboxSettings> {
    const { database, mailboxes } = this.#deps
    return database.withSite(site.siteId, async (tx) =>
      settingsOf(tx, site, await mailboxes.readable(tx, site, reader, address)),
    )
  }

  /** What is left out stays. */
  change(
    site: Site,
    by: Actor,
    address: string,
    change: MailboxSettingsChange,
  ): Promise<MailboxSettings> {
    const { mailboxChanges, clock } = this.#deps
    return mailboxChanges.alone(site, async (tx) => {
      const mailbox = await mailboxChanges.find(tx, site, address)
      await updateSettings(tx, mailbox.mailboxId, change, clock.now())
      const detail = { address: addressOf(site, mailbox.localPart), change: JSON.stringify(change) }
      await mailboxChanges.record(tx, { event: 'mailbox.settings-changed', by }, detail)
      return settingsOf(tx, site, mailbox)
    })
  }
}

const settingsOf = async (
  tx: SiteTx,
  site: Site,
  { mailboxId, localPart }: OwnedMailbox,
): Promise<MailboxSettings> => ({
  mailbox: addressOf(site, localPart),
  ...(await selectSettings(tx, mailboxId)),
})
