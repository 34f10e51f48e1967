import { type Actor, originOfActor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { SecurityEventName } from '#identity/security-events/model.ts'
import { type OwnedMailbox, addressOf } from '#mail/mailboxes/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { type AdmittedUse, RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import { RATE_LIMITS } from '#platform/rate-limits/rate-limits.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { Site } from '#sites/site.ts'

import type { ForwardingDeps } from './forwarding.ts'
import {
  type AddedForwardingTargets,
  type MailboxTargets,
  MAX_FORWARDING_TARGETS,
  type StoredForwardingTarget,
  parseForwardingTargets,
  requireActive,
  targetStatusOf,
} from './model.ts'
import type { OwnAddresses } from './own-addresses.ts'
import {
  deleteForwardingTargets,
  insertForwardingTargets,
  selectForwardingTargets,
} from './queries.ts'
import type { ForwardingVerifications } from './verifications.ts'

interface Addition {
  readonly by: Actor
  readonly address: string
  readonly wanted: readonly string[]
}

interface TargetsChange {
  readonly mailbox: OwnedMailbox
  readonly by: Actor
}

interface RecordedChange extends TargetsChange {
  readonly event: SecurityEventName
}

/** The addresses that a mailbox forwards to, and those that have yet to agree. */
export class ForwardingTargets {
  readonly #deps
  readonly #rateLimiter: RateLimiter

  constructor(
    deps: ForwardingDeps & {
      readonly counters: Counters
      readonly ownAddresses: OwnAddresses
      readonly verifications: Pick<ForwardingVerifications, 'ask'>
      /** Those of these addresses that the site sends nothing to. */
      readonly suppressed: (
        tx: SiteTx,
        addresses: readonly string[],
      ) => Promise<ReadonlySet<string>>
    },
  ) {
    this.#deps = deps
    this.#rateLimiter = new RateLimiter(deps)
  }

  /** By address. */
  list(site: Site, reader: Actor, address: string): Promise<MailboxTargets> {
    const { database, mailboxes } = this.#deps
    return database.withSite(site.siteId, async (tx) => {
      const mailbox = await mailboxes.readable(tx, site, reader, address)
      const rows = await selectForwardingTargets(tx, mailbox.mailboxId)
      return {
        mailbox: addressOf(site, mailbox.localPart),
        items: rows.map((row) => ({
          target: row.target,
          status: targetStatusOf(row),
          createdAt: row.createdAt.toISOString(),
        })),
      }
    })
  }

  /**
   * Asks each by mail whether they agree; one that is pending already is asked again, and the earlier link ends. 400
   * `InvalidTarget` for an address that leads back to the mailbox, 403 `QuotaExceeded` beyond what it may have.
   */
  async add(
    site: Site,
    by: Actor,
    address: string,
    targets: readonly string[],
  ): Promise<AddedForwardingTargets> {
    const wanted = parseForwardingTargets(targets)
    const { database, addresses } = this.#deps
    const { mailboxId, mailable } = await database.withSite(site.siteId, (tx) =>
      this.#mailable(tx, site, { by, address, wanted }),
    )
    const mail = await this.#admitMail(site.siteId, mailboxId, mailable)
    try {
      return await database.withSite(site.siteId, async (tx) => {
        await addresses.lock(tx)
        const mailbox = await this.#requireMailbox(tx, site, { by, address, wanted })
        return this.#add(tx, site, { mailbox, by }, { wanted, mail: mail.targets })
      })
    } catch (error) {
      await mail.takeBack()
      throw error
    }
  }

  /** Counts a mail for each target that is within every limit; the others count nowhere, and are not mailed. */
  async #admitMail(
    siteId: string,
    mailboxId: string,
    targets: readonly string[],
  ): Promise<AdmittedUse & { readonly targets: ReadonlySet<string> }> {
    const admitted = new Map<string, AdmittedUse>()
    for (const target of targets) {
      const decision = await this.#rateLimiter.decide(
        { limit: RATE_LIMITS.forwardingTargetPerMinute, siteId, of: target },
        { limit: RATE_LIMITS.forwardingTargetPerHour, siteId, of: target },
        { limit: RATE_LIMITS.forwardingMailboxPerHour, siteId, of: mailboxId },
        { limit: RATE_LIMITS.forwardingSitePerHour, siteId },
      )
      if (!('refusal' in decision)) admitted.set(target, decision)
    }
    return {
      targets: new Set(admitted.keys()),
      takeBack: async () => {
        for (const use of admitted.values()) await use.takeBack()
      },
    }
  }

  /** From now on they get nothing. Those that are not there are no fault. */
  remove(site: Site, by: Actor, address: string, targets: readonly string[]): Promise<void> {
    const unwanted = parseForwardingTargets(targets)
    const { database, addresses, mailboxes } = this.#deps
    return database.withSite(site.siteId, async (tx) => {
      await addresses.lock(tx)
      const mailbox = await mailboxes.readable(tx, site, by, address)
      const removed = await deleteForwardingTargets(tx, mailbox.mailboxId, unwanted)
      const event = 'mail-forwarding.targets-removed'
      await this.#record(tx, site, { event, mailbox, by }, removed)
    })
  }

  /** Those that are to be asked, as far as the limits allow: neither verified nor suppressed. */
  async #mailable(
    tx: SiteTx,
    site: Site,
    addition: Addition,
  ): Promise<{ readonly mailboxId: string; readonly mailable: readonly string[] }> {
    const { mailboxId } = await this.#requireMailbox(tx, site, addition)
    const { wanted } = addition
    const verified = (await selectForwardingTargets(tx, mailboxId)).filter(isVerified)
    const suppressed = await this.#deps.suppressed(tx, wanted)
    const left = new Set([...verified.map(({ target }) => target), ...suppressed])
    return { mailboxId, mailable: wanted.filter((target) => !left.has(target)) }
  }

  /** An active one, to which none of the targets leads back. */
  async #requireMailbox(
    tx: SiteTx,
    site: Site,
    { by, address, wanted }: Addition,
  ): Promise<OwnedMailbox> {
    const { mailboxes, ownAddresses } = this.#deps
    const mailbox = await mailboxes.readable(tx, site, by, address)
    requireActive(site, mailbox)
    await ownAddresses.refuse(tx, site, mailbox, wanted)
    return mailbox
  }

  async #add(
    tx: SiteTx,
    site: Site,
    change: TargetsChange,
    { wanted, mail }: { readonly wanted: readonly string[]; readonly mail: ReadonlySet<string> },
  ): Promise<AddedForwardingTargets> {
    const { clock, verifications } = this.#deps
    const { mailboxId, localPart } = change.mailbox
    const language = originOfActor(change.by)?.language
    const before = new Map(
      (await selectForwardingTargets(tx, mailboxId)).map((row) => [row.target, row]),
    )
    const added = wanted.filter((target) => !before.has(target))
    if (before.size + added.length > MAX_FORWARDING_TARGETS) throw tooMany()
    await insertForwardingTargets(tx, mailboxId, added, clock.now())
    await this.#record(tx, site, { ...change, event: 'mail-forwarding.targets-added' }, added)
    const items: AddedForwardingTargets['items'] = []
    for (const target of wanted) {
      const status = targetStatusOf(before.get(target) ?? { verifiedAt: null })
      const asks = status === 'PENDING' && mail.has(target)
      const verificationSent =
        asks && (await verifications.ask(tx, site, { mailboxId, localPart, target, language }))
      items.push({ target, status, verificationSent })
    }
    return { mailbox: addressOf(site, localPart), items }
  }

  async #record(
    tx: SiteTx,
    site: Site,
    { event, mailbox, by }: RecordedChange,
    targets: readonly string[],
  ): Promise<void> {
    if (targets.length === 0) return
    const detail = { mailbox: addressOf(site, mailbox.localPart), targets: targets.join(' ') }
    await this.#deps.events.record(tx, { event, pool: 'admin', by, detail })
  }
}

const isVerified = ({ verifiedAt }: StoredForwardingTarget): boolean => verifiedAt !== null

const tooMany = (): AppError =>
  new AppError(
    'QuotaExceeded',
    `A mailbox has at most ${MAX_FORWARDING_TARGETS} forwarding targets: remove some first`,
  )
