import type { Actor } from '#base/actor.ts'
import { AppError, notFound } from '#base/app-error.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import { localPartAt, parseOwnAddress } from '#mail/addresses/local-part.ts'
import type { MailAddresses } from '#mail/addresses/mail-addresses.ts'
import type { Mailboxes } from '#mail/mailboxes/mailboxes.ts'
import { addressOf } from '#mail/mailboxes/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import type { Alias, StoredAlias } from './model.ts'
import {
  deleteAliases,
  insertAlias,
  replaceTargets,
  selectAlias,
  selectAliases,
  selectAliasesOfOne,
} from './queries.ts'

/** Addresses of a site that lead to some of its mailboxes. */
export class Aliases {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly addresses: MailAddresses
      readonly mailboxes: Pick<Mailboxes, 'holdIds'>
      readonly events: Pick<SecurityEvents, 'record'>
    },
  ) {
    this.#deps = deps
  }

  /** By address. */
  async list(site: Site, page: PageRequest): Promise<PageRows<Alias>> {
    const rows = await this.#deps.database.withSite(site.siteId, (tx) => selectAliases(tx, page))
    const { items, lastKey } = pageRows(rows, page.limit, ({ localPart }) => localPart)
    return { items: items.map((row) => aliasOf(site, row)), lastKey }
  }

  /** Makes the alias, or leads it elsewhere. 409 `MailboxAlreadyExists` for the address of a mailbox. */
  put(site: Site, by: Actor, alias: Alias): Promise<Alias> {
    const localPart = parseOwnAddress(site.domain, alias.address, 'address')
    const { addresses, clock } = this.#deps
    return this.#alone(site, async (tx) => {
      const mailboxIds = await this.#targets(tx, site, alias.targets)
      if (!(await selectAlias(tx, localPart))) {
        await addresses.add(tx, site, { localPart, kind: 'alias' })
        await insertAlias(tx, localPart, clock.now())
      }
      await replaceTargets(tx, { localPart, mailboxIds }, clock.now())
      const stored = await this.#find(tx, site, alias.address)
      await this.#record(tx, 'alias.changed', by, aliasOf(site, stored))
      return aliasOf(site, stored)
    })
  }

  delete(site: Site, by: Actor, address: string): Promise<void> {
    return this.#alone(site, async (tx) => {
      const stored = await this.#find(tx, site, address)
      await this.#delete(tx, [stored.localPart])
      await this.#record(tx, 'alias.deleted', by, aliasOf(site, stored))
    })
  }

  /** For a mailbox that goes: an alias that led to it alone goes, too. */
  async forgetTarget(
    tx: SiteTx,
    site: Site,
    { mailboxId, by }: { readonly mailboxId: string; readonly by: Actor },
  ): Promise<void> {
    const localParts = await selectAliasesOfOne(tx, mailboxId)
    await this.#delete(tx, localParts)
    for (const localPart of localParts) {
      const alias = { address: addressOf(site, localPart), targets: [] }
      await this.#record(tx, 'alias.deleted', by, alias)
    }
  }

  #alone<Result>(site: Site, change: (tx: SiteTx) => Promise<Result>): Promise<Result> {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      await this.#deps.addresses.lock(tx)
      return change(tx)
    })
  }

  async #find(tx: SiteTx, site: Site, address: string): Promise<StoredAlias> {
    const localPart = localPartAt(site.domain, address)
    const alias = localPart === undefined ? undefined : await selectAlias(tx, localPart)
    if (!alias) throw notFound('Alias', address)
    return alias
  }

  /** 400 `InvalidTarget` names those that are no mailboxes of the site. */
  async #targets(tx: SiteTx, site: Site, targets: readonly string[]): Promise<readonly string[]> {
    const localParts = targets.map((target) => localPartAt(site.domain, target) ?? '')
    const found = await this.#deps.mailboxes.holdIds(tx, localParts)
    const details = targets.flatMap((target, at) =>
      found.some(({ localPart }) => localPart === localParts[at])
        ? []
        : [{ field: `targets[${at}]`, message: `"${target}" is none` }],
    )
    if (details.length === 0) return found.map(({ mailboxId }) => mailboxId)
    const words = details.map(({ message }) => message).join(', ')
    throw new AppError('InvalidTarget', `Targets are mailboxes of this site: ${words}`, { details })
  }

  async #delete(tx: SiteTx, localParts: readonly string[]): Promise<void> {
    if (localParts.length === 0) return
    await deleteAliases(tx, localParts)
    await this.#deps.addresses.remove(tx, localParts)
  }

  #record(
    tx: SiteTx,
    event: 'alias.changed' | 'alias.deleted',
    by: Actor,
    { address, targets }: Alias,
  ): Promise<void> {
    const detail = { address, targets: targets.join(' ') }
    return this.#deps.events.record(tx, { event, pool: 'admin', by, detail })
  }
}

const aliasOf = (site: Site, { localPart, targets }: StoredAlias): Alias => ({
  address: addressOf(site, localPart),
  targets: targets.map((target) => addressOf(site, target)),
})
