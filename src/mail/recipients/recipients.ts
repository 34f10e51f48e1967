import { isStorable } from '#base/storable-text.ts'
import { canonicalLocalPart, withoutPlusPart } from '#mail/addresses/local-part.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'

import { type RecipientResolution, resolutionOf } from './model.ts'
import { selectOldestAdminMailbox, selectTargets, siteHasMailbox } from './queries.ts'

/** RFC 5321 §4.5.1: a domain that takes mail takes it for this one. */
const POSTMASTER = 'postmaster'

/** Where mail to the addresses of sites goes. */
export class Recipients {
  readonly #database: Database

  constructor(deps: { readonly database: Database }) {
    this.#database = deps.database
  }

  /**
   * The mailboxes behind a local part, which is given as it was sent, without quotes: itself or through an alias, else those of
   * the part before its first `+`. `postmaster`, unless it was created, is the oldest mailbox of an admin.
   */
  resolve(siteId: string, localPart: string): Promise<RecipientResolution> {
    return this.#database.withSite(siteId, (tx) => this.resolveWithin(tx, localPart))
  }

  /** Whether the site has a mailbox that takes mail. */
  hasMailbox(siteId: string): Promise<boolean> {
    return this.#database.withSite(siteId, siteHasMailbox)
  }

  /** As `resolve`, in the transaction of the caller. */
  async resolveWithin(tx: SiteTx, localPart: string): Promise<RecipientResolution> {
    if (!isStorable(localPart)) return { kind: 'unknown' }
    const address = canonicalLocalPart(localPart)
    const base = withoutPlusPart(address)
    const named = base === undefined ? [address] : [address, base]
    const resolution = resolutionOf(await selectTargets(tx, named), address)
    if (resolution.kind !== 'unknown' || (base ?? address) !== POSTMASTER) return resolution
    const oldest = await selectOldestAdminMailbox(tx)
    return oldest === undefined
      ? resolution
      : resolutionOf(await selectTargets(tx, [oldest]), oldest)
  }
}
