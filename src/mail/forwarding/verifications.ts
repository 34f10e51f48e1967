import { AppError } from '#base/app-error.ts'
import { ipPrefix } from '#base/ip-prefix.ts'
import type { Language } from '#base/language.ts'
import type { RequestOrigin } from '#base/request-origin.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import { DEFAULT_LANGUAGE } from '#languages/language.ts'
import { t } from '#languages/message.ts'
import { localPartAt } from '#mail/addresses/local-part.ts'
import { addressOf } from '#mail/mailboxes/model.ts'
import type { OutboundMessages } from '#mail/outbound/outbound-messages.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import { RATE_LIMITS } from '#platform/rate-limits/rate-limits.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { PlatformServices } from '#platform/services.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import type { Site } from '#sites/site.ts'

import { type ForwardingConsent, canonicalTarget, targetStatusOf } from './model.ts'
import { verificationMail } from './verification-mail.ts'
import {
  type TargetOfToken,
  markTargetVerified,
  selectTargetOfToken,
  updateTargetToken,
} from './verification-queries.ts'

const LIFETIME_MS = 72 * 60 * 60 * 1000
/** On the site's own domain. */
export const VERIFICATION_PATH = '/admin/public/forwarding/verify'

/** What a mailed link says. Mailbox and target may be left out: the token names them. */
export interface VerificationLink {
  readonly token: string
  readonly mailbox?: string | undefined
  readonly target?: string | undefined
}

interface PendingTarget {
  readonly mailboxId: string
  readonly localPart: string
  readonly target: string
  /** Of the owner who adds it. */
  readonly language: Language | undefined
}

/** Mailed links by which targets agree: good once and for 72 hours, for one target of one mailbox, known to us only as hashes. */
export class ForwardingVerifications {
  readonly #deps
  readonly #rateLimiter: RateLimiter

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock' | 'ids'> & {
      readonly baseUrl: string
      readonly counters: Counters
      readonly outboundMessages: Pick<OutboundMessages, 'accept' | 'delivers'>
      readonly events: Pick<SecurityEvents, 'record'>
    },
  ) {
    this.#deps = deps
    this.#rateLimiter = new RateLimiter(deps)
  }

  /** A new link by mail, which ends the one before. False when no gateway takes the message: then it is in the outbox. */
  async ask(tx: SiteTx, site: Site, pending: PendingTarget): Promise<boolean> {
    const { ids, clock, baseUrl, outboundMessages } = this.#deps
    const { localPart, target } = pending
    const [token, sentAt] = [ids.secret(), clock.now()]
    const expiresAt = new Date(sentAt.getTime() + LIFETIME_MS)
    await updateTargetToken(tx, pending, { tokenHash: hashSecret(token), sentAt, expiresAt })
    const mailbox = addressOf(site, localPart)
    const query = new URLSearchParams({ token, mailbox, target }).toString()
    const url = `${siteBaseUrl(baseUrl, site.domain)}${VERIFICATION_PATH}?${query}`
    const asked = { siteDomain: site.domain, mailbox, target, url, expiresAt }
    const mail = verificationMail(asked, pending.language ?? DEFAULT_LANGUAGE)
    await outboundMessages.accept(tx, site, {
      kind: 'forwarding-verification',
      to: target,
      ...mail,
    })
    return outboundMessages.delivers
  }

  /**
   * What the link asks for; changes nothing. 400 `InvalidToken`, 429 `TooManyRequests` after many that were, 410 `LinkExpired`
   * for one that was used or is too old.
   */
  find(site: Site, link: VerificationLink, origin: RequestOrigin): Promise<ForwardingConsent> {
    return this.#attempt(site, origin, () =>
      this.#deps.database.withSite(site.siteId, async (tx) =>
        consentOf(site, await this.#named(tx, site, link)),
      ),
    )
  }

  /** Has the target get mail from now on. The errors of `find`. */
  verify(site: Site, link: VerificationLink, origin: RequestOrigin): Promise<ForwardingConsent> {
    return this.#attempt(site, origin, () =>
      this.#deps.database.withSite(site.siteId, (tx) => this.#verify(tx, site, { link, origin })),
    )
  }

  /** Counts as wrong what ends in `InvalidToken`, from before that is known on. */
  async #attempt<Found>(
    { siteId }: Site,
    { address }: RequestOrigin,
    open: () => Promise<Found>,
  ): Promise<Found> {
    const admitted = await this.#rateLimiter.admit({
      limit: RATE_LIMITS.wrongForwardingLinks,
      siteId,
      of: ipPrefix(address),
    })
    let isWrong = false
    try {
      return await open()
    } catch (error) {
      isWrong = error instanceof AppError && error.code === 'InvalidToken'
      throw error
    } finally {
      if (!isWrong) await admitted.takeBack()
    }
  }

  async #verify(
    tx: SiteTx,
    site: Site,
    { link, origin }: { readonly link: VerificationLink; readonly origin: RequestOrigin },
  ): Promise<ForwardingConsent> {
    const { clock, events } = this.#deps
    const asked = await this.#named(tx, site, link)
    if (!(await markTargetVerified(tx, hashSecret(link.token), clock.now()))) {
      // Another request agreed to it, or removed its target, since it was read.
      await this.#named(tx, site, link)
    }
    const detail = { mailbox: addressOf(site, asked.localPart), targets: asked.target }
    await events.record(tx, { event: 'mail-forwarding.verified', pool: 'admin', origin, detail })
    return { ...consentOf(site, asked), status: 'VERIFIED' }
  }

  /**
   * By the hash of the token: how long the comparison of hashes takes tells nothing about the token. One error for
   * everything that is wrong, and one for what was right once.
   */
  async #named(tx: SiteTx, site: Site, link: VerificationLink): Promise<TargetOfToken> {
    const found = await selectTargetOfToken(tx, hashSecret(link.token))
    if (!found || !isMeant(site, link, found)) throw invalidLink()
    if (found.verifiedAt !== null) throw usedLink()
    if (found.expiresAt === null || found.expiresAt <= this.#deps.clock.now()) throw oldLink()
    return found
  }
}

const isMeant = (
  { domain }: Site,
  { mailbox, target }: VerificationLink,
  found: TargetOfToken,
): boolean =>
  (mailbox === undefined || localPartAt(domain, mailbox) === found.localPart) &&
  (target === undefined || canonicalTarget(target) === found.target)

const consentOf = (site: Site, asked: TargetOfToken): ForwardingConsent => ({
  mailbox: addressOf(site, asked.localPart),
  target: asked.target,
  status: targetStatusOf(asked),
})

const invalidLink = (): AppError => new AppError('InvalidToken', t('error.forwarding-link'))

const usedLink = (): AppError => new AppError('LinkExpired', t('error.forwarding-used'))

const oldLink = (): AppError => new AppError('LinkExpired', t('error.forwarding-old'))
