import type { Actor } from '#base/actor.ts'
import { AppError, notFound } from '#base/app-error.ts'
import type { SecurityEventName } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { UserKey } from '#identity/user-key.ts'
import { localPartAt } from '#mail/addresses/local-part.ts'
import type { MailAddresses } from '#mail/addresses/mail-addresses.ts'
import { noteMailboxChange } from '#mail/changes/note.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import { type Mailbox, type OwnedMailbox, addressOf, mailboxOf } from './model.ts'
import { selectMailbox } from './queries.ts'

/** The people of a site's admin pool. */
interface OwnerDirectory {
  /** Those with these ids or addresses, in their order; undefined for an unknown one. They stay until the transaction ends. */
  holdUsers(tx: SiteTx, names: readonly string[]): Promise<readonly (UserKey | undefined)[]>
}

/** A change and its actor, for the audit trail. */
export interface MailboxChange {
  readonly event: SecurityEventName
  readonly by: Actor
}

/** What every change of a mailbox begins and ends with. */
export class MailboxChanges {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'notifications'> & {
      readonly addresses: MailAddresses
      readonly ownerDirectory: OwnerDirectory
      readonly events: Pick<SecurityEvents, 'record'>
    },
  ) {
    this.#deps = deps
  }

  /** A transaction with an exclusive lock on the site's mailboxes and aliases. */
  alone<Result>(site: Site, change: (tx: SiteTx) => Promise<Result>): Promise<Result> {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      await this.#deps.addresses.lock(tx)
      return change(tx)
    })
  }

  /** 404 `MailboxNotFound`, also for an address of another domain. */
  async find(tx: SiteTx, site: Site, address: string): Promise<OwnedMailbox> {
    const localPart = localPartAt(site.domain, address)
    const mailbox = localPart === undefined ? undefined : await selectMailbox(tx, localPart)
    if (!mailbox) throw notFound('Mailbox', address)
    return mailbox
  }

  /** Each once. 400 `InvalidOwner` names those who are no users of the site. */
  async requireUsers(tx: SiteTx, names: readonly string[]): Promise<readonly UserKey[]> {
    const users = await this.#deps.ownerDirectory.holdUsers(tx, names)
    const details = names.flatMap((name, at) =>
      users[at] === undefined ? [{ field: `owners[${at}]`, message: `"${name}" is none` }] : [],
    )
    if (details.length > 0) {
      const words = details.map(({ message }) => message).join(', ')
      throw new AppError('InvalidOwner', `Owners are users of this site: ${words}`, { details })
    }
    return [...new Map(users.flatMap((user) => (user ? [[user.sub, user]] : []))).values()]
  }

  /** Those of these names that are users, by id. */
  async knownUsers(tx: SiteTx, names: readonly string[]): Promise<ReadonlySet<string>> {
    const users = await this.#deps.ownerDirectory.holdUsers(tx, names)
    return new Set(users.flatMap((user) => (user ? [user.sub] : [])))
  }

  /** Records a change, tells those who follow the mailbox, and gives it as it is after it. */
  async recorded(
    tx: SiteTx,
    site: Site,
    { localPart }: Pick<OwnedMailbox, 'localPart'>,
    change: MailboxChange,
  ): Promise<Mailbox> {
    const changed = await this.find(tx, site, addressOf(site, localPart))
    await noteMailboxChange(this.#deps.notifications, tx, changed.mailboxId)
    const mailbox = mailboxOf(site, changed)
    const { address, owners } = mailbox
    await this.record(tx, change, { address, owners: owners.join(' ') })
    return mailbox
  }

  record(
    tx: SiteTx,
    { event, by }: MailboxChange,
    detail: Readonly<Record<string, string | number | boolean>>,
  ): Promise<void> {
    return this.#deps.events.record(tx, { event, pool: 'admin', by, detail })
  }
}
