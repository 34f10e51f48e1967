import type { Actor } from '#base/actor.ts'
import { AppError, invalid } from '#base/app-error.ts'
import { firstOf } from '#base/in-use.ts'
import type { MailboxOwnership } from '#identity/admin-users/mailbox-ownership.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { MailAddresses } from '#mail/addresses/mail-addresses.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import type { MailboxChanges } from './mailbox-changes.ts'
import { MAX_OWNERS, type Mailbox, type OwnedMailbox, addressOf, mailboxOf } from './model.ts'
import { deleteOwners, insertOwners, selectSolelyOwned } from './queries.ts'

/** Mailboxes that the refusal to delete a user names. */
const NAMED = 100

interface OwnersChange {
  readonly address: string
  /** Ids of users, or their addresses. */
  readonly owners: readonly string[]
}

/** Who owns the active mailboxes of a site: always at least one of its users. */
export class MailboxOwners implements MailboxOwnership {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'clock'> & {
      readonly addresses: MailAddresses
      readonly mailboxChanges: MailboxChanges
    },
  ) {
    this.#deps = deps
  }

  /** Makes these its only owners. */
  replace(site: Site, by: Actor, change: OwnersChange): Promise<Mailbox> {
    return this.#changing(site, { by, ...change }, async (tx, mailbox) => {
      const owners = await this.#deps.mailboxChanges.requireUsers(tx, change.owners)
      const kept = new Set(owners.map(({ sub }) => sub))
      const gone = mailbox.owners.filter((sub) => !kept.has(sub))
      await deleteOwners(tx, mailbox.mailboxId, gone)
      return (await this.#insert(tx, mailbox, owners)) || gone.length > 0
    })
  }

  /** Adding someone who owns it is fine. */
  add(site: Site, by: Actor, change: OwnersChange): Promise<Mailbox> {
    return this.#changing(site, { by, ...change }, async (tx, mailbox) => {
      const owners = await this.#deps.mailboxChanges.requireUsers(tx, change.owners)
      const all = new Set([...mailbox.owners, ...owners.map(({ sub }) => sub)])
      if (all.size > MAX_OWNERS) throw invalid('owners', `a mailbox has at most ${MAX_OWNERS}`)
      return this.#insert(tx, mailbox, owners)
    })
  }

  /** Removing a user who does not own it is fine. 409 `MinimumOwners` when no owner would be left. */
  remove(site: Site, by: Actor, change: OwnersChange): Promise<Mailbox> {
    return this.#changing(site, { by, ...change }, async (tx, mailbox) => {
      const removed = await this.#deps.mailboxChanges.knownUsers(tx, change.owners)
      const gone = mailbox.owners.filter((sub) => removed.has(sub))
      if (gone.length === mailbox.owners.length) {
        throw new AppError(
          'MinimumOwners',
          `"${addressOf(site, mailbox.localPart)}" keeps at least one owner: add another one first`,
        )
      }
      await deleteOwners(tx, mailbox.mailboxId, gone)
      return gone.length > 0
    })
  }

  /** Rows of an owner go with the user: what is left to see to is that none of them was the only one. */
  async userDeleted(tx: SiteTx, site: Site, sub: string): Promise<void> {
    await this.#deps.addresses.lock(tx)
    const localParts = await selectSolelyOwned(tx, sub, NAMED)
    if (localParts.length === 0) return
    const addresses = localParts.map((localPart) => addressOf(site, localPart))
    throw new AppError(
      'MailboxOwnershipConflict',
      `The user alone owns ${firstOf(addresses)}: give each another owner, or disable it`,
      { details: addresses.map((message) => ({ field: 'mailbox', message })) },
    )
  }

  /** `change` tells whether it changed anything. */
  #changing(
    site: Site,
    { by, address }: { readonly by: Actor; readonly address: string },
    change: (tx: SiteTx, mailbox: OwnedMailbox) => Promise<boolean>,
  ): Promise<Mailbox> {
    const { mailboxChanges } = this.#deps
    return mailboxChanges.alone(site, async (tx) => {
      const mailbox = await mailboxChanges.find(tx, site, address)
      if (mailbox.status === 'DISABLED') {
        throw new AppError(
          'MailboxDisabled',
          `"${addressOf(site, mailbox.localPart)}" is disabled: restore it first`,
        )
      }
      if (!(await change(tx, mailbox))) return mailboxOf(site, mailbox)
      return mailboxChanges.recorded(tx, site, mailbox, { event: 'mailbox.owners-changed', by })
    })
  }

  /** Whether one of them was none. */
  async #insert(tx: SiteTx, mailbox: OwnedMailbox, owners: readonly UserKey[]): Promise<boolean> {
    const added = owners.filter(({ sub }) => !mailbox.owners.includes(sub))
    await insertOwners(tx, mailbox.mailboxId, added, this.#deps.clock.now())
    return added.length > 0
  }
}
