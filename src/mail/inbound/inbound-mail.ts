import { ipPrefix } from '#base/ip-prefix.ts'
import { MemoryBudget } from '#base/memory-budget.ts'
import { toStorable } from '#base/storable-text.ts'
import type { MailConfig } from '#config/config.ts'
import type { Accepting } from '#mail/parsing/accepting.ts'
import type { PlatformServices } from '#platform/services.ts'
import type {
  ConnectionSummary,
  MailCommand,
  SmtpClient,
  SmtpPolicy,
} from '#platform/smtp-server/smtp-policy.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'
import { withinTransferTime } from '#platform/smtp-server/transfer-time.ts'

import { dmarcRefusal } from './authentication.ts'
import type { InboundGate } from './gate.ts'
import type { InboundDeliveries } from './inbound-deliveries.ts'
import { inboundMessageOf } from './inbound-message.ts'
import { tooLarge } from './incoming-message.ts'
import { type MessageStore, type StoredMessage, noRoom, withoutRoom } from './message-store.ts'
import type { InboundMessage, Delivery } from './model.ts'
import type { RecipientLookup } from './recipient-lookup.ts'
import { MailTransaction } from './transaction.ts'

const MIB = 1024 * 1024
const MAX_MESSAGES_PER_CONNECTION = 1000
/** What a message may hold while it comes: what is kept in one piece, and as much as an object store spools. */
const MESSAGE_MEMORY = 2 * MIB
const MEMORY = { maxBytes: 128 * MIB, maxBytesPerKey: 64 * MIB, reservedBytes: 16 * MIB }
const MEMORY_WAIT_MS = 60_000

interface Visit {
  readonly startedAt: number
  messages: number
  transaction: MailTransaction | undefined
}

/** Mail that other servers hand to this one: who may, for which recipients, and how it is kept before it is acknowledged. */
export class InboundMail implements SmtpPolicy {
  readonly #deps
  readonly #visits = new Map<string, Visit>()
  readonly #memory = new MemoryBudget(MEMORY)

  constructor(
    deps: Pick<PlatformServices, 'clock' | 'logger' | 'disk'> & {
      readonly config: Pick<MailConfig, 'smtpHostname' | 'smtpLimits'>
      readonly gate: InboundGate
      readonly lookup: RecipientLookup
      readonly store: MessageStore
      readonly inboundDeliveries: Pick<InboundDeliveries, 'accept'>
      /** Messages that were received and are not acknowledged: what can wait lets them pass. */
      readonly accepting: Pick<Accepting, 'begin'>
      /** Keeps a bounce that goes back to a sender: committed when it resolves. */
      readonly returnBounce: (
        siteId: string,
        arrival: InboundMessage,
        address: string,
      ) => Promise<void>
    },
  ) {
    this.#deps = deps
  }

  connected({ connectionId, address }: SmtpClient): void {
    this.#deps.gate.entered(address)
    const startedAt = performance.now()
    this.#visits.set(connectionId, { startedAt, messages: 0, transaction: undefined })
  }

  async mail(client: SmtpClient, command: MailCommand): Promise<void> {
    const visit = this.#visit(client)
    const { messageBytes } = this.#deps.config.smtpLimits
    if (visit.messages >= MAX_MESSAGES_PER_CONNECTION) {
      throw new SmtpReply(421, '4.7.0', 'Too many messages on one connection: open another')
    }
    if (command.declaredBytes > messageBytes) throw tooLarge(messageBytes)
    if (this.#deps.disk.isFull('database', 'objects')) throw noRoom()
    await this.#deps.gate.fromNetwork(client.address)
    visit.transaction = new MailTransaction(command)
  }

  async recipient(client: SmtpClient, address: string): Promise<void> {
    const { transaction } = this.#visit(client)
    if (!transaction) throw new SmtpReply(503, '5.5.1', 'MAIL comes first')
    transaction.makeRoom(address)
    const found = await this.#deps.lookup.find(address, transaction)
    const { siteId, returnTo } = found
    if (!transaction.has(siteId)) await this.#deps.gate.toSite(siteId)
    if (returnTo !== undefined) return transaction.addReturned({ siteId, address: returnTo })
    transaction.add(siteId, toStorable(found.address), found.mailboxIds)
  }

  async message(client: SmtpClient, content: AsyncIterable<Uint8Array>): Promise<string> {
    const visit = this.#visit(client)
    const { transaction } = visit
    if (!transaction) throw new SmtpReply(503, '5.5.1', 'MAIL comes first')
    visit.transaction = undefined
    visit.messages += 1
    const startedAt = performance.now()
    const { siteIds } = transaction
    const log = (result: string, stored?: StoredMessage): void =>
      this.#deps.logger.info(
        {
          connectionId: client.connectionId,
          siteIds,
          mailboxes: [...transaction.deliveries.values()].flat().length,
          rawIds: stored && [...stored.rawIds.values()],
          sizeBytes: stored?.sizeBytes,
          authentication: stored?.outcome.authentication,
          result,
          durationMs: Math.round(performance.now() - startedAt),
        },
        'message',
      )
    let acknowledged: (() => void) | undefined
    const received = atEnd(content, () => (acknowledged = this.#deps.accepting.begin(siteIds)))
    try {
      const stored = await this.#store(client, transaction, received)
      this.#deps.gate.received(client.address, siteIds, stored.sizeBytes)
      const isNew = await this.#accept(client, transaction, stored)
      log(isNew ? 'accepted' : 'here already', stored)
      return isNew ? 'accepted' : 'accepted before'
    } catch (error) {
      const known = withoutRoom(error)
      log(known instanceof SmtpReply ? `${known.responseCode} ${known.message}` : 'failed')
      throw known
    } finally {
      acknowledged?.()
    }
  }

  closed({ connectionId, address, tls }: SmtpClient, summary: ConnectionSummary): void {
    const visit = this.#visits.get(connectionId)
    if (!visit) return
    this.#visits.delete(connectionId)
    this.#deps.gate.left(address)
    const durationMs = Math.round(performance.now() - visit.startedAt)
    const { messages } = visit
    const fields = { connectionId, address, tls: tls?.version, messages, ...summary, durationMs }
    this.#deps.logger.info(fields, 'smtp connection')
  }

  failed(error: unknown): void {
    this.#deps.logger.error({ err: error }, 'a message could not be received')
  }

  #visit({ connectionId }: SmtpClient): Visit {
    const visit = this.#visits.get(connectionId)
    if (!visit) throw new SmtpReply(421, '4.3.0', 'This connection is over')
    return visit
  }

  async #store(
    client: SmtpClient,
    { sender, siteIds }: MailTransaction,
    content: AsyncIterable<Uint8Array>,
  ): Promise<StoredMessage> {
    const lease = this.#memory.lease(ipPrefix(client.address))
    const needed = MESSAGE_MEMORY * siteIds.length
    try {
      if (!(await lease.reserve(needed, AbortSignal.timeout(MEMORY_WAIT_MS)))) {
        throw new SmtpReply(451, '4.3.2', 'The server is busy with other messages: try again')
      }
      return await this.#deps.store.store(withinTransferTime(content), siteIds, {
        address: client.address,
        heloName: client.heloName,
        sender,
        hostname: this.#deps.config.smtpHostname,
      })
    } finally {
      lease.release()
    }
  }

  /** Returns whether it is new to a mailbox. Its bytes stay where it may have been committed. */
  async #accept(
    client: SmtpClient,
    transaction: MailTransaction,
    stored: StoredMessage,
  ): Promise<boolean> {
    const { store, inboundDeliveries } = this.#deps
    const refusal = dmarcRefusal(stored.outcome.authentication)
    if (refusal) {
      await store.remove(stored.rawIds)
      throw refusal
    }
    if (transaction.returned) {
      const { siteId, address } = transaction.returned
      const arrival = this.#arrival(client, transaction.sender, { stored, siteId, deliveries: [] })
      await this.#deps.returnBounce(siteId, arrival, address)
      return true
    }
    const accepting = [...transaction.deliveries].map(async ([siteId, deliveries]) => {
      const arrival = this.#arrival(client, transaction.sender, { stored, siteId, deliveries })
      const decision = await inboundDeliveries.accept(siteId, arrival)
      if ('messages' in decision && decision.messages.length > 0) return true
      await store.remove([[siteId, arrival.rawId]])
      if ('refusal' in decision) throw decision.refusal
      return false
    })
    const outcomes = await Promise.allSettled(accepting)
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    return outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value)
  }

  #arrival(
    { address, heloName, protocol, tls }: SmtpClient,
    sender: string,
    at: {
      readonly stored: StoredMessage
      readonly siteId: string
      readonly deliveries: readonly Delivery[]
    },
  ): InboundMessage {
    const { stored, siteId, deliveries } = at
    return inboundMessageOf(stored, {
      siteId,
      sender,
      deliveries,
      from: { address, heloName, protocol, tls: tls ?? null },
      receivedAt: this.#deps.clock.now(),
      hostname: this.#deps.config.smtpHostname,
    })
  }
}

/** The same, and tells when it has been read to its end. */
async function* atEnd(
  content: AsyncIterable<Uint8Array>,
  ended: () => void,
): AsyncGenerator<Uint8Array> {
  yield* content
  ended()
}
