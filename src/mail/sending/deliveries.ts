import { createHash } from 'node:crypto'

import { MemoryBudget } from '#base/memory-budget.ts'
import { noteMailboxChange } from '#mail/changes/note.ts'
import type { DkimSigner } from '#mail/dkim/signer.ts'
import { keptAuthentication, siteAuthentication } from '#mail/inbound/local-authentication.ts'
import { rawKey } from '#mail/objects/mail-keys.ts'
import type { MailPurge } from '#mail/removal/purge.ts'
import type { MailRoute, MailRouter } from '#mail/routing/mail-router.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { QUEUE_POLICIES } from '#platform/queue/queue-policies.ts'
import { type QueueJobs, TransientFailure } from '#platform/queue/queue.ts'
import type { PlatformServices } from '#platform/services.ts'
import { MailRefused } from '#platform/smtp/mail-transport.ts'
import type { Site } from '#sites/site.ts'

import { isAddressFault } from './address-faults.ts'
import { DELAYED_AFTER_MS, MAX_MESSAGE_BYTES, type RecipientStatus } from './model.ts'
import {
  type ClaimedRecipient,
  claimRecipient,
  haveAll,
  lockRecipients,
  updateRecipient,
} from './queries.ts'
import type { RecipientQueue } from './recipient-queue.ts'
import type { Suppressions } from './suppressions.ts'

const MAX_TRIES = 1 + QUEUE_POLICIES['mail-delivery'].retries
const MAX_REPLY = 300
/** What one message may hold; SMTP may let larger ones in. */
const MAX_HELD_BYTES = 2 * MAX_MESSAGE_BYTES
const GIVEN_UP = 'The service could not hand the message over for two days'
/** Messages are held whole while they go out, since a connection that is lost starts again. */
const MEMORY = {
  maxBytes: 4 * MAX_MESSAGE_BYTES,
  maxBytesPerKey: MAX_HELD_BYTES,
  reservedBytes: MAX_MESSAGE_BYTES,
}

/** How a message leaves: its envelope sender, its bytes, and whether a site here is in From or who wrote it. */
export interface OutgoingForm {
  readonly from: string
  readonly mime: Uint8Array
  readonly author: 'site' | 'original'
}

/** Makes the form for a recipient. Throws `MailRefused` for what may not go on. */
type FormOf = (
  site: Site,
  message: ClaimedRecipient & { readonly recipient: string },
  raw: Uint8Array,
) => OutgoingForm | Promise<OutgoingForm>

export type PassedOnForms = Readonly<Record<'forwarded' | 'returned', FormOf>>

type Job = QueueJobs['mail-delivery']

interface DeliveryEnd {
  readonly status: RecipientStatus
  readonly reply: string | null
  /** Whether mail to the address is pointless from now on. */
  readonly isSuppressed?: boolean
}

/**
 * The handler of the queue `mail-delivery`: hands a message to the gateway or to a site here, for each recipient by itself, so
 * that none waits for another. A crash between the gateway's answer and its record sends the same bytes again, with the same
 * Message-ID.
 */
export class Deliveries {
  readonly #deps
  readonly #memory = new MemoryBudget(MEMORY)

  constructor(
    deps: Pick<PlatformServices, 'database' | 'notifications' | 'objects' | 'clock' | 'logger'> & {
      readonly mailRouter: MailRouter
      /** The server's own name. */
      readonly hostname: string
      readonly dkimSigner: Pick<DkimSigner, 'signed'>
      readonly suppressions: Pick<Suppressions, 'add'>
      readonly mailPurge: Pick<MailPurge, 'dropUnused' | 'letGo'>
      readonly forms: PassedOnForms
      readonly recipientQueue: Pick<RecipientQueue, 'report'>
      /** Rejects with `SiteNotFound` when the site is gone. */
      readonly siteOf: (siteId: string) => Promise<Site>
    },
  ) {
    this.#deps = deps
  }

  async run(job: Job, signal: AbortSignal): Promise<void> {
    const { database, clock } = this.#deps
    const claimed = await database.withSite(job.siteId, (tx) =>
      claimRecipient(tx, job.messageId, job.recipient, clock.now()),
    )
    if (!claimed) return
    let route: MailRoute
    try {
      route = await this.#deps.mailRouter.routeOf(job.recipient)
      await this.#send(route, job, claimed, signal)
    } catch (error) {
      return this.#failed(job, claimed, error)
    }
    const status = route === 'outbox' ? 'captured' : 'sent'
    await this.#finish(job, claimed, { status, reply: null })
  }

  /** For a job whose workers died again and again. */
  readonly givenUp = async (job: Job): Promise<void> => {
    const { database, clock } = this.#deps
    const claimed = await database.withSite(job.siteId, (tx) =>
      claimRecipient(tx, job.messageId, job.recipient, clock.now()),
    )
    if (claimed) await this.#finish(job, claimed, { status: 'failed', reply: GIVEN_UP })
  }

  async #send(
    route: MailRoute,
    job: Job,
    claimed: ClaimedRecipient,
    signal: AbortSignal,
  ): Promise<void> {
    const { objects, mailRouter, siteOf, hostname } = this.#deps
    const { siteId, messageId, recipient } = job
    const site = await siteOf(siteId)
    if (Number(claimed.sizeBytes) > MAX_HELD_BYTES) {
      throw new MailRefused(`The message is larger than ${MAX_HELD_BYTES} bytes`)
    }
    const lease = this.#memory.lease(siteId)
    try {
      if (!(await lease.reserve(Number(claimed.sizeBytes), signal))) signal.throwIfAborted()
      const object = await objects.get(rawKey(siteId, claimed.rawId))
      if (!object) throw new Error(`The bytes of message "${messageId}" are not there`)
      const raw = new Uint8Array(await new Response(object.body).arrayBuffer())
      const form = await this.#form(route, site, { ...claimed, recipient }, raw)
      const { from, mime, author } = form
      const outcome =
        author === 'site'
          ? siteAuthentication(site.domain, hostname)
          : keptAuthentication(claimed.authentication)
      const about = { siteId, siteDomain: site.domain, kind: 'mailbox', text: '', html: '' }
      const { createdAt } = claimed
      const subject = claimed.subject ?? ''
      const message = { ...about, createdAt, subject, from, to: recipient, mime, outcome }
      const copy = { ...message, messageId: copyId(messageId, recipient) }
      await mailRouter.send(route, copy, signal)
    } finally {
      lease.release()
    }
  }

  async #form(
    route: MailRoute,
    site: Site,
    message: ClaimedRecipient & { readonly recipient: string },
    raw: Uint8Array,
  ): Promise<OutgoingForm> {
    const { dkimSigner, forms } = this.#deps
    const { kind, envelopeFrom, createdAt } = message
    if (kind !== 'sent') return forms[kind](site, message, raw)
    const identity = { siteId: site.siteId, domain: site.domain, signedAt: createdAt }
    // What the operator reads is left as it was written.
    const mime = route === 'outbox' ? raw : await dkimSigner.signed(identity, raw)
    return { from: envelopeFrom, mime, author: 'site' }
  }

  async #failed(job: Job, claimed: ClaimedRecipient, error: unknown): Promise<void> {
    const reply = (error instanceof Error ? error.message : String(error)).slice(0, MAX_REPLY)
    const { siteId, messageId, recipient } = job
    const { attempts } = claimed
    if (error instanceof MailRefused || attempts >= MAX_TRIES) {
      this.#deps.logger.warn({ siteId, messageId, attempts, reply }, 'message not delivered')
      return this.#finish(job, claimed, {
        status: 'failed',
        reply,
        isSuppressed: isAddressFault(error),
      })
    }
    await this.#deps.database.withSite(siteId, async (tx) => {
      const change = { status: 'queued' as const, reply, now: this.#deps.clock.now() }
      await updateRecipient(tx, messageId, recipient, change)
      if (this.#isLate(claimed)) await this.#deps.recipientQueue.report(tx, messageId)
      await this.#noteChange(tx, claimed)
    })
    throw new TransientFailure(reply, { cause: error })
  }

  async #finish(
    { siteId, messageId, recipient }: Job,
    claimed: ClaimedRecipient,
    { isSuppressed = false, ...end }: DeliveryEnd,
  ): Promise<void> {
    const { database, suppressions, mailPurge, recipientQueue, clock } = this.#deps
    await database.withSite(siteId, async (tx: SiteTx) => {
      const change = { ...end, now: clock.now() }
      if (claimed.letsGo) await lockRecipients(tx, messageId)
      if (!(await updateRecipient(tx, messageId, recipient, change))) return
      if (isSuppressed && claimed.kind !== 'returned') {
        await suppressions.add(tx, recipient, end.reply ?? '')
      }
      if (claimed.letsGo && (await haveAll(tx, messageId))) await mailPurge.letGo(tx, messageId)
      if (end.status === 'failed' && claimed.kind === 'sent') {
        await recipientQueue.report(tx, messageId)
      }
      // The message may have been purged while it was on its way.
      await mailPurge.dropUnused(tx, claimed.rawId)
      await this.#noteChange(tx, claimed)
    })
  }

  #isLate({ kind, isNoticed, createdAt }: ClaimedRecipient): boolean {
    const age = this.#deps.clock.now().getTime() - createdAt.getTime()
    return kind === 'sent' && !isNoticed && age >= DELAYED_AFTER_MS
  }

  async #noteChange(tx: SiteTx, { kind, mailboxId }: ClaimedRecipient): Promise<void> {
    if (kind === 'returned') return
    await noteMailboxChange(this.#deps.notifications, tx, mailboxId)
  }
}

/** One name for each copy of a message, for those that are kept here. */
const copyId = (messageId: string, recipient: string): string =>
  `${messageId}-${createHash('sha256').update(recipient).digest('hex').slice(0, 8)}`
