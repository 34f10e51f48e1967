import type { MailConfig } from '#config/config.ts'
import type { DkimSigner } from '#mail/dkim/signer.ts'
import type { InboundMessage } from '#mail/inbound/model.ts'
import { addressOf } from '#mail/mailboxes/model.ts'
import type { OutgoingForm, PassedOnForms } from '#mail/sending/deliveries.ts'
import type { RecipientQueue } from '#mail/sending/recipient-queue.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import { MailRefused } from '#platform/smtp/mail-transport.ts'
import type { Site } from '#sites/site.ts'

import { forwardedMessage, inOwnName } from './forwarded-message.ts'
import type { ReturnPaths } from './return-paths.ts'

/** Where a mailbox forwards to. */
interface ForwardingRoute {
  readonly mailboxId: string
  readonly keepCopy: boolean
  /** Those that were verified. */
  readonly targets: readonly string[]
}

export interface ForwarderDeps {
  readonly config: Pick<MailConfig, 'forwardFrom'>
  readonly database: Database
  readonly sealer: Pick<Sealer, 'derive'>
  readonly dkimSigner: Pick<DkimSigner, 'signed'>
  /** Of the mailboxes that forward, of these. */
  readonly routesOf: (
    tx: SiteTx,
    mailboxIds: readonly string[],
  ) => Promise<readonly ForwardingRoute[]>
  readonly returnPaths: ReturnPaths
  readonly recipientQueue: RecipientQueue
}

/** A message that was filed in a mailbox which forwards. */
interface ReceivedMessage {
  readonly messageId: string
  readonly mailboxId: string
  readonly arrival: InboundMessage
}

type ForwardedForm = Parameters<PassedOnForms['forwarded']>[1]

/** Sends on what mailboxes receive, to each of their targets by itself. */
export class Forwarder {
  readonly #deps: ForwarderDeps

  constructor(deps: ForwarderDeps) {
    this.#deps = deps
  }

  /** In the transaction that accepts the messages: what is acknowledged is queued for every target. */
  async forward(tx: SiteTx, messages: readonly ReceivedMessage[]): Promise<void> {
    const { routesOf, recipientQueue } = this.#deps
    const mailboxIds = [...new Set(messages.map(({ mailboxId }) => mailboxId))]
    const routes = new Map(
      (await routesOf(tx, mailboxIds)).map((route) => [route.mailboxId, route]),
    )
    const queued = messages.flatMap(({ messageId, mailboxId, arrival }) => {
      const route = routes.get(mailboxId)
      if (!route) return []
      return {
        kind: 'forwarded' as const,
        messageId,
        mailboxId,
        rawId: arrival.rawId,
        envelopeFrom: arrival.sender,
        headerId: arrival.headers.messageId ?? '',
        recipients: route.targets,
        letsGo: !route.keepCopy,
      }
    })
    if (queued.length > 0) await recipientQueue.add(tx, queued)
  }

  /** Rejects with `MailRefused` once the mailbox does not forward there any more, and for loops. */
  async form(site: Site, message: ForwardedForm, raw: Uint8Array): Promise<OutgoingForm> {
    const { config, sealer, dkimSigner, returnPaths } = this.#deps
    const { siteId, domain } = site
    const { localPart, traceHeader, envelopeFrom, createdAt } = message
    if (localPart === null || !(await this.#isTarget(siteId, message))) {
      throw new MailRefused('The mailbox does not forward to this address any more')
    }
    const mailbox = addressOf(site, localPart)
    const key = sealer.derive(`forwarding-mark:${siteId}`)
    const mime = forwardedMessage(raw, { mailbox, traceHeader, key })
    const from = returnPaths.forward(site, envelopeFrom, mailbox)
    if (config.forwardFrom === 'original') return { from, mime, author: 'original' }
    const identity = { siteId, domain, signedAt: createdAt }
    // Gateways that refuse foreign authors refuse foreign return paths too: all of this site's are its own.
    const own = await dkimSigner.signed(identity, inOwnName(mime, mailbox))
    return { from, mime: own, author: 'site' }
  }

  #isTarget(
    siteId: string,
    { mailboxId, recipient }: Pick<ForwardedForm, 'mailboxId' | 'recipient'>,
  ): Promise<boolean> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      const routes = await this.#deps.routesOf(tx, [mailboxId])
      return routes.some(({ targets }) => targets.includes(recipient))
    })
  }
}
