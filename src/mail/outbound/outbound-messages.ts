import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import type { OutboundMail, OutboundMessage } from '#identity/auth-emails/outbound-mail.ts'
import type { DkimSigner } from '#mail/dkim/signer.ts'
import { siteAuthentication } from '#mail/inbound/local-authentication.ts'
import type { MailRoute, MailRouter } from '#mail/routing/mail-router.ts'
import { domainOf } from '#mail/routing/outgoing-places.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { QUEUE_POLICIES } from '#platform/queue/queue-policies.ts'
import { type QueueJobs, TransientFailure } from '#platform/queue/queue.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import { MailRefused, type RawMail, isOfSite } from '#platform/smtp/mail-transport.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import { type Composition, compose } from './compose.ts'
import {
  type FailedMessage,
  type DeliveryStatus,
  fromBytes,
  sealContext,
  senderOf,
  toBytes,
} from './model.ts'
import {
  claimMessage,
  finishMessage,
  insertMessage,
  noteFailure,
  selectFailedMessages,
  sweepMessages,
} from './queries.ts'

const KEPT_MS = 30 * 24 * 3_600_000
const MAX_TRIES = 1 + QUEUE_POLICIES['outbound-mail'].retries
const MAX_ERROR = 300

type Job = QueueJobs['outbound-mail']

/**
 * Messages that sites send: in Postgres from the caller's commit on, sealed until they left. A crash between hand-over and
 * its record sends a message again, with the same Message-ID and, unless the site signs with another key by then, the same
 * bytes.
 */
export class OutboundMessages implements OutboundMail {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'queue' | 'clock' | 'ids' | 'logger'> & {
      readonly sealer: Sealer
      readonly siteKeys: SiteKeys
      readonly mailRouter: MailRouter
      /** The server's own name. */
      readonly hostname: string
      readonly dkimSigner: Pick<DkimSigner, 'signed'>
    },
  ) {
    this.#deps = deps
  }

  /** Whether mail to other servers leaves. */
  get delivers(): boolean {
    return this.#deps.mailRouter.hasGateway
  }

  async enqueue(tx: SiteTx, site: Site, message: OutboundMessage): Promise<void> {
    await this.accept(tx, site, message)
  }

  /** Queues the message and returns its id. */
  async accept(tx: SiteTx, site: Site, message: OutboundMessage): Promise<string> {
    const { queue, sealer, siteKeys, clock, ids } = this.#deps
    const messageId = ids.named('msg')
    const createdAt = clock.now()
    const { domain: siteDomain } = site
    const bytes = toBytes({ siteDomain, ...message })
    const sealed = sealer.seal(await siteKeys.wrapped(tx), sealContext(messageId), bytes)
    await sweepMessages(tx, new Date(createdAt.getTime() - KEPT_MS))
    const { kind, to: recipient } = message
    await insertMessage(tx, { messageId, kind, recipient, sealed, createdAt })
    const name = isOfSite(kind) ? 'site-mail' : 'outbound-mail'
    const job = { siteId: site.siteId, messageId }
    await queue.enqueue(tx, name, job, { group: domainOf(recipient) })
    return messageId
  }

  /** Lists the messages that were given up in the last thirty days, newest first. */
  async listFailed(siteId: string, page: PageRequest): Promise<PageRows<FailedMessage>> {
    const [time = '', messageId = ''] = page.after?.split(' ') ?? []
    const after = page.after === undefined ? undefined : { createdAt: new Date(time), messageId }
    const rows = await this.#deps.database.withSite(siteId, (tx) =>
      selectFailedMessages(tx, { limit: page.limit + 1, after }),
    )
    return pageRows(rows, page.limit, (row) => `${row.createdAt.toISOString()} ${row.messageId}`)
  }

  /** The handler of the queues `outbound-mail` and `site-mail`. */
  async run(job: Job, signal: AbortSignal): Promise<void> {
    const claimed = await this.#claim(job)
    if (!claimed) return
    let route: MailRoute
    try {
      route = await this.#deliver(await compose(claimed.message), signal)
    } catch (error) {
      return this.#failed(job, error, claimed.attempts)
    }
    await this.#finish(job, route === 'outbox' ? 'captured' : 'sent', null)
  }

  /**
   * Mail of the service to an address of a site here that has no mailbox leaves: its owner may read it elsewhere, and without a
   * gateway the operator reads it in the outbox. An invite is not lost because a mailbox was made first.
   */
  async #deliver(composed: RawMail, signal: AbortSignal): Promise<MailRoute> {
    const { mailRouter, hostname } = this.#deps
    const outcome = siteAuthentication(composed.siteDomain, hostname)
    const send = async (route: MailRoute): Promise<MailRoute> => {
      const message = route === 'outbox' ? composed : await this.#signed(composed)
      await mailRouter.send(route, { ...message, outcome }, signal)
      return route
    }
    const route = await mailRouter.routeOf(composed.to)
    try {
      return await send(route)
    } catch (error) {
      if (route !== 'local' || !isUnknownMailbox(error)) throw error
      return send(mailRouter.hasGateway ? 'gateway' : 'outbox')
    }
  }

  /** Returns undefined when the message was sent, given up, or deleted with its site. */
  async #claim(
    job: Job,
  ): Promise<{ readonly message: Composition; readonly attempts: number } | undefined> {
    const { database, sealer, siteKeys } = this.#deps
    const { siteId, messageId } = job
    const claimed = await database.withSite(siteId, async (tx) => {
      const row = await claimMessage(tx, messageId)
      return row && { ...row, siteKey: await siteKeys.wrapped(tx) }
    })
    if (!claimed) return undefined
    const { sealed, siteKey, createdAt, attempts } = claimed
    const waiting = fromBytes(sealer.open(siteKey, sealContext(messageId), sealed))
    const from = senderOf(waiting.siteDomain)
    return { message: { ...waiting, from, messageId, siteId, createdAt }, attempts }
  }

  /** In the name of the domain that From has. */
  async #signed(message: RawMail): Promise<RawMail> {
    const { siteId, siteDomain: domain, createdAt: signedAt, mime } = message
    const identity = { siteId, domain, signedAt }
    return { ...message, mime: await this.#deps.dkimSigner.signed(identity, mime) }
  }

  async #failed(job: Job, error: unknown, attempts: number): Promise<void> {
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_ERROR)
    if (error instanceof MailRefused || attempts >= MAX_TRIES) {
      const { siteId, messageId } = job
      this.#deps.logger.error({ siteId, messageId, attempts, reason, err: error }, 'mail given up')
      return this.#finish(job, 'failed', reason)
    }
    await this.#deps.database.withSite(job.siteId, (tx) => noteFailure(tx, job.messageId, reason))
    throw new TransientFailure(reason, { cause: error })
  }

  #finish(job: Job, status: DeliveryStatus, error: string | null): Promise<void> {
    const finishedAt = this.#deps.clock.now()
    return this.#deps.database.withSite(job.siteId, (tx) =>
      finishMessage(tx, job.messageId, { status, error, finishedAt }),
    )
  }
}

/** RFC 3463: bad destination mailbox address. */
const isUnknownMailbox = (error: unknown): boolean =>
  error instanceof MailRefused && error.refusal?.enhancedCode === '5.1.1'
