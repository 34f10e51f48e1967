import { AppError } from '#base/app-error.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  type AddressKind,
  countAddresses,
  deleteAddresses,
  insertAddress,
  lockAddresses,
  selectAddressKind,
} from './queries.ts'

/** An address of a site, by its canonical local part. */
export interface MailAddressKey {
  readonly localPart: string
  readonly kind: AddressKind
}

/** Mailboxes and aliases of a site together. */
const MAX_ADDRESSES = 20_000

/** The addresses at which a site takes mail. Each is a mailbox or an alias, never both. */
export class MailAddresses {
  readonly #notifications: PlatformServices['notifications']

  constructor(deps: Pick<PlatformServices, 'notifications'>) {
    this.#notifications = deps.notifications
  }

  /**
   * What changes addresses, owners and targets of a site happens one after the other: each change begins with this. At commit
   * every replica forgets where the site's addresses led.
   */
  async lock(tx: SiteTx): Promise<void> {
    await lockAddresses(tx)
    await this.#notifications.notify(tx, 'croft_mail_addresses', { siteId: tx.siteId })
  }

  /** 409 `MailboxAlreadyExists` or `AliasAlreadyExists` when the site has it. */
  async add(tx: SiteTx, site: Site, address: MailAddressKey): Promise<void> {
    const { localPart } = address
    const taken = await selectAddressKind(tx, localPart)
    if (taken !== undefined) throw addressTaken(taken, `${localPart}@${site.domain}`)
    if ((await countAddresses(tx)) >= MAX_ADDRESSES) {
      throw new AppError('QuotaExceeded', `A site has at most ${MAX_ADDRESSES} addresses`)
    }
    await insertAddress(tx, address)
  }

  /** After the mailboxes or aliases that had them. */
  async remove(tx: SiteTx, localParts: readonly string[]): Promise<void> {
    await deleteAddresses(tx, localParts)
  }
}

const addressTaken = (kind: AddressKind, address: string): AppError =>
  kind === 'mailbox'
    ? new AppError('MailboxAlreadyExists', `There is a mailbox "${address}" already`)
    : new AppError('AliasAlreadyExists', `"${address}" is an alias already: delete it first`)
