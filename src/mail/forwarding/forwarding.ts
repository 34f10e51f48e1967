import type { Actor } from '#base/actor.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { MailAddresses } from '#mail/addresses/mail-addresses.ts'
import type { Mailboxes } from '#mail/mailboxes/mailboxes.ts'
import { type OwnedMailbox, addressOf } from '#mail/mailboxes/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  type ForwardingChange,
  type ForwardingRoute,
  type ForwardingSettings,
  NO_FORWARDING,
  requireActive,
  targetStatusOf,
} from './model.ts'
import {
  type StoredForwarding,
  selectForwarding,
  selectForwardingRoutes,
  selectForwardingTargets,
  upsertForwarding,
} from './queries.ts'

export interface ForwardingDeps extends Pick<PlatformServices, 'database' | 'clock'> {
  readonly addresses: Pick<MailAddresses, 'lock'>
  readonly mailboxes: Pick<Mailboxes, 'readable'>
  readonly events: Pick<SecurityEvents, 'record'>
}

/** Whether the mail of a mailbox is sent on to its verified targets, and whether it stays as well. */
export class Forwarding {
  readonly #deps: ForwardingDeps

  constructor(deps: ForwardingDeps) {
    this.#deps = deps
  }

  get(site: Site, reader: Actor, address: string): Promise<ForwardingSettings> {
    const { database, mailboxes } = this.#deps
    return database.withSite(site.siteId, async (tx) =>
      settingsOf(tx, site, await mailboxes.readable(tx, site, reader, address)),
    )
  }

  /** What is left out stays. Needs no verified target: until there is one, nothing is forwarded. */
  change(
    site: Site,
    by: Actor,
    address: string,
    change: ForwardingChange,
  ): Promise<ForwardingSettings> {
    const { database, addresses, mailboxes } = this.#deps
    return database.withSite(site.siteId, async (tx) => {
      await addresses.lock(tx)
      const mailbox = await mailboxes.readable(tx, site, by, address)
      if (change.enabled === true) requireActive(site, mailbox)
      await this.#set(tx, site, { mailbox, by }, change)
      return settingsOf(tx, site, mailbox)
    })
  }

  /** For a mailbox that takes no more mail: a restore decides again whether its mail leaves. */
  async stop(
    tx: SiteTx,
    site: Site,
    stopped: { readonly mailbox: OwnedMailbox; readonly by: Actor },
  ): Promise<void> {
    await this.#set(tx, site, stopped, { enabled: false })
  }

  /** Where the mail of these mailboxes goes now; those that forward nothing are left out. */
  routes(tx: SiteTx, mailboxIds: readonly string[]): Promise<readonly ForwardingRoute[]> {
    return selectForwardingRoutes(tx, mailboxIds)
  }

  async #set(
    tx: SiteTx,
    site: Site,
    { mailbox, by }: { readonly mailbox: OwnedMailbox; readonly by: Actor },
    change: ForwardingChange,
  ): Promise<void> {
    const { clock, events } = this.#deps
    const { mailboxId, localPart } = mailbox
    const before = await storedForwarding(tx, mailboxId)
    const after = { ...before, ...change }
    if (before.enabled === after.enabled && before.keepCopy === after.keepCopy) return
    await upsertForwarding(tx, mailboxId, after, clock.now())
    const detail = { mailbox: addressOf(site, localPart), ...after }
    await events.record(tx, { event: 'mail-forwarding.changed', pool: 'admin', by, detail })
  }
}

const storedForwarding = async (tx: SiteTx, mailboxId: string): Promise<StoredForwarding> =>
  (await selectForwarding(tx, mailboxId)) ?? NO_FORWARDING

const settingsOf = async (
  tx: SiteTx,
  site: Site,
  { mailboxId, localPart }: OwnedMailbox,
): Promise<ForwardingSettings> => ({
  mailbox: addressOf(site, localPart),
  ...(await storedForwarding(tx, mailboxId)),
  targets: (await selectForwardingTargets(tx, mailboxId)).map((row) => ({
    target: row.target,
    status: targetStatusOf(row),
  })),
})
