import type { Actor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { Mailboxes } from '#mail/mailboxes/mailboxes.ts'
import { addressOf, type OwnedMailbox } from '#mail/mailboxes/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

/** Who may send as which mailbox: its readers, while it is active. */
export class SenderAccess {
  readonly #deps

  constructor(deps: { readonly mailboxes: Pick<Mailboxes, 'readable'> }) {
    this.#deps = deps
  }

  /** 404 `MailboxNotFound` to anyone else, 409 `MailboxDisabled` for one that is. */
  async require(tx: SiteTx, site: Site, sender: Actor, address: string): Promise<OwnedMailbox> {
    const mailbox = await this.#deps.mailboxes.readable(tx, site, sender, address)
    if (mailbox.status === 'ACTIVE') return mailbox
    throw new AppError(
      'MailboxDisabled',
      `"${addressOf(site, mailbox.localPart)}" is disabled: nothing is sent from it`,
    )
  }
}
