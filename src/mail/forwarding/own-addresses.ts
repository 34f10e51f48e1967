import { AppError } from '#base/app-error.ts'
import { localPartAt, withoutPlusPart } from '#mail/addresses/local-part.ts'
import { type OwnedMailbox, addressOf } from '#mail/mailboxes/model.ts'
import type { Recipients } from '#mail/recipients/recipients.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

/** Tells which addresses lead to a mailbox, so that it does not forward to itself. */
export class OwnAddresses {
  readonly #deps

  constructor(deps: { readonly recipients: Pick<Recipients, 'resolveWithin'> }) {
    this.#deps = deps
  }

  /** 400 `InvalidTarget` names those of the targets that lead to the mailbox: its own address, with a plus part, or an alias. */
  async refuse(
    tx: SiteTx,
    site: Site,
    mailbox: OwnedMailbox,
    targets: readonly string[],
  ): Promise<void> {
    const own: string[] = []
    for (const target of targets) {
      const localPart = localPartAt(site.domain, target)
      if (localPart !== undefined && (await this.#leadsTo(tx, mailbox, localPart))) own.push(target)
    }
    if (own.length === 0) return
    const address = addressOf(site, mailbox.localPart)
    throw new AppError(
      'InvalidTarget',
      `A mailbox cannot forward to itself: ${own.map((target) => `"${target}"`).join(', ')} leads to "${address}"`,
      {
        details: own.map((target) => ({
          field: 'targets',
          message: `"${target}" leads to "${address}"`,
        })),
      },
    )
  }

  async #leadsTo(tx: SiteTx, mailbox: OwnedMailbox, localPart: string): Promise<boolean> {
    if ([localPart, withoutPlusPart(localPart)].includes(mailbox.localPart)) return true
    const resolution = await this.#deps.recipients.resolveWithin(tx, localPart)
    return (
      resolution.kind === 'deliverable' &&
      resolution.mailboxes.some(({ mailboxId }) => mailboxId === mailbox.mailboxId)
    )
  }
}
