import { type Actor, actorId, atLeast } from '#base/actor.ts'
import { AppError, notFound } from '#base/app-error.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import { parseOwnAddress } from '#mail/addresses/local-part.ts'
import type { MailAddresses } from '#mail/addresses/mail-addresses.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import type { MailboxChanges } from './mailbox-changes.ts'
import { type Mailbox, type NewMailbox, type OwnedMailbox, addressOf, mailboxOf } from './model.ts'
import {
  deleteMailbox,
  deleteOwners,
  insertMailbox,
  insertOwners,
  selectMailbox,
  lockMailboxIds,
  selectMailboxes,
  updateStatus,
} from './queries.ts'

export interface MailboxesDeps extends Pick<
  PlatformServices,
  'database' | 'queue' | 'clock' | 'ids'
> {
  readonly addresses: MailAddresses
  readonly mailboxChanges: MailboxChanges
  /** Takes a mailbox that goes out of the targets of aliases. */
  readonly forgetTarget: (
    tx: SiteTx,
    site: Site,
    removed: { readonly mailboxId: string; readonly by: Actor },
  ) => Promise<void>
  /** Ends the forwarding of a mailbox that takes no more mail. */
  readonly stopForwarding: (
    tx: SiteTx,
    site: Site,
    stopped: { readonly mailbox: OwnedMailbox; readonly by: Actor },
  ) => Promise<void>
}

/** The mailboxes of a site. */
export class Mailboxes {
  readonly #deps: MailboxesDeps

  constructor(deps: MailboxesDeps) {
    this.#deps = deps
  }

  /** 409 `MailboxAlreadyExists` also for the address of a disabled one, 409 `AliasAlreadyExists` for that of an alias. */
  create(site: Site, by: Actor, input: NewMailbox): Promise<Mailbox> {
    const localPart = parseOwnAddress(site.domain, input.address, 'address')
    const { addresses, mailboxChanges, ids, clock } = this.#deps
    return mailboxChanges.alone(site, async (tx) => {
      const existing = await selectMailbox(tx, localPart)
      if (existing?.status === 'DISABLED') throw disabledTwin(addressOf(site, localPart))
      // Holds the site, too: it is not deleted before this is done.
      const owners = await mailboxChanges.requireUsers(tx, input.owners)
      await addresses.add(tx, site, { localPart, kind: 'mailbox' })
      const mailbox = { mailboxId: ids.named('mbx'), localPart }
      await insertMailbox(tx, mailbox, clock.now())
      await this.#planRemoval(tx)
      await insertOwners(tx, mailbox.mailboxId, owners, clock.now())
      return mailboxChanges.recorded(tx, site, mailbox, { event: 'mailbox.created', by })
    })
  }

  /** By address: all of them to admins, to others those they own. */
  async list(site: Site, reader: Actor, page: PageRequest): Promise<PageRows<Mailbox>> {
    const owner = atLeast(reader, 'admin') ? undefined : actorId(reader)
    const rows = await this.#deps.database.withSite(site.siteId, (tx) =>
      selectMailboxes(tx, owner, page),
    )
    const { items, lastKey } = pageRows(rows, page.limit, ({ localPart }) => localPart)
    return { items: items.map((row) => mailboxOf(site, row)), lastKey }
  }

  /**
   * The mailbox with that address, for an actor who may read it: an admin, or an owner. 404 `MailboxNotFound` for anyone else, as
   * for an unknown address.
   */
  async readable(tx: SiteTx, site: Site, reader: Actor, address: string): Promise<OwnedMailbox> {
    const mailbox = await this.#deps.mailboxChanges.find(tx, site, address)
    if (atLeast(reader, 'admin') || mailbox.owners.includes(actorId(reader))) return mailbox
    throw notFound('Mailbox', address)
  }

  /** Those of these local parts that are mailboxes, in any state. They stay until the transaction ends. */
  holdIds(
    tx: SiteTx,
    localParts: readonly string[],
  ): Promise<readonly { readonly mailboxId: string; readonly localPart: string }[]> {
    return lockMailboxIds(tx, localParts)
  }

  /** Takes no mail from now on; what it has stays, its forwarding ends. Disabling twice is fine. */
  disable(site: Site, by: Actor, address: string): Promise<void> {
    const { mailboxChanges, stopForwarding, clock } = this.#deps
    return mailboxChanges.alone(site, async (tx) => {
      const mailbox = await mailboxChanges.find(tx, site, address)
      if (mailbox.status === 'DISABLED') return
      await updateStatus(tx, mailbox.mailboxId, 'DISABLED', clock.now())
      await stopForwarding(tx, site, { mailbox, by })
      await mailboxChanges.recorded(tx, site, mailbox, { event: 'mailbox.disabled', by })
    })
  }

  /** To these owners, or to those it had who are still there. 409 `MailboxNotDisabled` for one that is active. */
  restore(
    site: Site,
    by: Actor,
    { address, owners }: { readonly address: string; readonly owners?: readonly string[] },
  ): Promise<Mailbox> {
    const { mailboxChanges, clock } = this.#deps
    return mailboxChanges.alone(site, async (tx) => {
      const mailbox = await this.#disabled(tx, site, address)
      if (owners !== undefined) {
        const users = await mailboxChanges.requireUsers(tx, owners)
        await deleteOwners(tx, mailbox.mailboxId, mailbox.owners)
        await insertOwners(tx, mailbox.mailboxId, users, clock.now())
      } else if (mailbox.owners.length === 0) {
        throw nobodyLeft(addressOf(site, mailbox.localPart))
      }
      await updateStatus(tx, mailbox.mailboxId, 'ACTIVE', clock.now())
      return mailboxChanges.recorded(tx, site, mailbox, { event: 'mailbox.restored', by })
    })
  }

  /** Row and address go at once, its messages a moment later. 409 `MailboxNotDisabled` while it takes mail. */
  purge(site: Site, by: Actor, address: string): Promise<void> {
    const { addresses, mailboxChanges, forgetTarget } = this.#deps
    return mailboxChanges.alone(site, async (tx) => {
      const { mailboxId, localPart } = await this.#disabled(tx, site, address)
      await forgetTarget(tx, site, { mailboxId, by })
      await deleteMailbox(tx, mailboxId)
      await addresses.remove(tx, [localPart])
      await this.#planRemoval(tx)
      const detail = { address: addressOf(site, localPart) }
      await mailboxChanges.record(tx, { event: 'mailbox.purged', by }, detail)
    })
  }

  /** The job also plans its next run, as long as the site has a mailbox. */
  async #planRemoval(tx: SiteTx): Promise<void> {
    const { siteId } = tx
    await this.#deps.queue.enqueue(tx, 'mail-removal', { siteId }, { singletonKey: siteId })
  }

  async #disabled(tx: SiteTx, site: Site, address: string): Promise<OwnedMailbox> {
    const mailbox = await this.#deps.mailboxChanges.find(tx, site, address)
    if (mailbox.status === 'DISABLED') return mailbox
    throw new AppError(
      'MailboxNotDisabled',
      `"${addressOf(site, mailbox.localPart)}" is active: disable it first`,
    )
  }
}

const disabledTwin = (address: string): AppError =>
  new AppError(
    'MailboxAlreadyExists',
    `There is a disabled mailbox "${address}": restore it with POST /admin/api/mailboxes/${address}/restore`,
  )

const nobodyLeft = (address: string): AppError =>
  new AppError(
    'InvalidOwner',
    `The former owners of "${address}" are no users any more: name its "owners"`,
    { details: [{ field: 'owners', message: 'no earlier owner is a user any more' }] },
  )
