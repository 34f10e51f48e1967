import { AppError } from '#base/app-error.ts'
import { readMailHeaders } from '#mail/headers/mail-headers.ts'
import { type BodyReader, fanOut } from '#mail/inbound/fan-out.ts'
import type { InboundDeliveries } from '#mail/inbound/inbound-deliveries.ts'
import { IncomingMessage } from '#mail/inbound/incoming-message.ts'
import type { InboundMessage } from '#mail/inbound/model.ts'
import { rawKey } from '#mail/objects/mail-keys.ts'
import type { MailParsing } from '#mail/parsing/mail-parsing.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

import { MAX_MESSAGE_BYTES, type SentMessage, messageTooLarge } from './model.ts'
import { markSent } from './queries.ts'
import type { RecipientQueue } from './recipient-queue.ts'

/** What is shorter is written in one piece. */
const MEMORY_BYTES = 256 * 1024
const CONTENT_TYPE = 'message/rfc822'
const MESSAGE_TOO_LARGE = 552

/** Written by the sender itself, so there is nothing to be checked. */
const OWN = {
  spf: 'none',
  dkim: 'none',
  dmarc: 'none',
  arc: 'none',
  spfDomain: null,
  dkimDomains: [],
  fromDomain: null,
  dmarcPolicy: null,
}

/** A message whose bytes are safe in the object store, before its rows are there. */
export type StoredOutgoing = Omit<InboundMessage, 'sender' | 'deliveries'>

export interface Outgoing {
  readonly messageId: string
  readonly mailboxId: string
  /** The mailbox's address. */
  readonly sender: string
  readonly recipients: readonly string[]
  /** Whether the same bytes again are a retry of a client that lost our response. */
  readonly isRetried: boolean
}

/** What mailboxes send, from the first byte to the commit: after that it is sent, or reported as failed. */
export class OutgoingMail {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'objects' | 'clock' | 'ids' | 'logger'> & {
      readonly inboundDeliveries: Pick<InboundDeliveries, 'file'>
      readonly mailParsing: Pick<MailParsing, 'conversationOf' | 'queueUp'>
      readonly recipientQueue: RecipientQueue
    },
  ) {
    this.#deps = deps
  }

  /** 413 `MessageTooLarge` beyond 25 MiB. Nothing is kept when it rejects. */
  async store(
    siteId: string,
    content: AsyncIterable<Uint8Array>,
    { protocol }: { readonly protocol: string },
  ): Promise<StoredOutgoing> {
    const { objects, ids, clock } = this.#deps
    const rawId = ids.named('raw')
    const message = new IncomingMessage(MAX_MESSAGE_BYTES)
    try {
      const put: BodyReader = async (body) => {
        await objects.put(rawKey(siteId, rawId), body, { contentType: CONTENT_TYPE })
      }
      await fanOut(message.read(content), MEMORY_BYTES, [put])
    } catch (error) {
      await this.remove(siteId, rawId)
      throw withoutSmtp(error)
    }
    return {
      rawId,
      sizeBytes: message.sizeBytes,
      sha256: message.digest(),
      from: { address: '', heloName: '', protocol, tls: null },
      traceHeader: '',
      authentication: OWN,
      headers: readMailHeaders(message.headerBlock()),
      receivedAt: clock.now(),
    }
  }

  /** For bytes that get no rows. What cannot be removed now is found by the sweep for orphans. */
  async remove(siteId: string, rawId: string): Promise<void> {
    try {
      await this.#deps.objects.delete(rawKey(siteId, rawId))
    } catch (error) {
      this.#deps.logger.warn({ siteId, rawId, err: error }, 'a message that is not sent was left')
    }
  }

  /**
   * Files the message in SENT and queues it for each recipient. A retry within minutes, with the same bytes to the same
   * recipients, is the message that is there already: then its id is given, and these bytes are needed no more. 403 `QuotaExceeded` when the mailbox is full.
   */
  async accept(tx: SiteTx, stored: StoredOutgoing, outgoing: Outgoing): Promise<SentMessage> {
    const { inboundDeliveries, mailParsing, recipientQueue } = this.#deps
    const { messageId, mailboxId, sender, recipients, isRetried } = outgoing
    const deliveries = [{ mailboxId, recipient: sender }]
    const envelopeTo = isRetried ? recipients.toSorted() : [messageId]
    const arrival = { ...stored, sender, deliveries, envelopeTo }
    const filed = await inboundDeliveries.file(tx, arrival, messageId).catch((error: unknown) => {
      throw error instanceof SmtpReply ? noRoom(error) : error
    })
    if (filed.messageId !== messageId) return { id: filed.messageId, threadId: filed.threadId }
    const { messageId: headerId, inReplyTo, references } = stored.headers
    const threadId = await mailParsing.conversationOf(tx, {
      messageId,
      mailboxId,
      threadId: messageId,
      receivedAt: stored.receivedAt,
      headerId,
      inReplyTo,
      referenceIds: references,
    })
    await markSent(tx, messageId, threadId)
    const message = {
      kind: 'sent' as const,
      messageId,
      mailboxId,
      rawId: stored.rawId,
      envelopeFrom: sender,
      headerId: headerId ?? '',
      recipients,
      letsGo: false,
    }
    await recipientQueue.add(tx, [message])
    await mailParsing.queueUp(tx)
    return { id: messageId, threadId }
  }
}

const noRoom = (refusal: SmtpReply): AppError =>
  new AppError('QuotaExceeded', `The message cannot be filed: ${refusal.message}`)

/** What a message on its way in is refused with is said to a sender in the words of the API. */
function withoutSmtp(error: unknown): unknown {
  if (!(error instanceof SmtpReply)) return error
  if (error.responseCode !== MESSAGE_TOO_LARGE)
    return new AppError('ValidationError', error.message)
  return messageTooLarge()
}
