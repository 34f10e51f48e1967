import { StatementBatcher } from '#base/statement-batcher.ts'
import type { MailParsing } from '#mail/parsing/mail-parsing.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'
import type { PlatformServices } from '#platform/services.ts'

import { Acceptance, type Decision, hasDuplicates, newMessages } from './acceptance.ts'
import type { InboundMessage } from './model.ts'
import {
  type DeliveryKey,
  type FiledMessage,
  type NewMessage,
  lockMailboxes,
  lockMailUsage,
  insertMessages,
  insertPlainMessages,
  selectDelivered,
  selectDeliveries,
} from './queries.ts'

/** How long the same bytes are the same message: as long as a server waits before it tries again, and some more. */
const SAME_MESSAGE_MS = 15 * 60_000
/** Those of this installation's own are tried for two days, and again after a crash, whenever the service starts again. */
const SAME_LOCAL_MESSAGE_MS = 7 * 24 * 3_600_000
const MAX_BATCH = 100

/**
 * Makes messages of what has arrived: when `accept` resolves it is committed. A site's arrivals wait for each other's commit
 * anyway, since they count in the same rows: those that come during a commit share the next one.
 */
export class InboundDeliveries {
  readonly #deps
  readonly #batcher: StatementBatcher<InboundMessage, Decision>

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock' | 'ids'> & {
      readonly mailParsing: Pick<MailParsing, 'queueUp' | 'queuedSince'>
      /** Sends on what mailboxes that forward have received. */
      readonly forward: (tx: SiteTx, messages: readonly NewMessage[]) => Promise<void>
    },
  ) {
    this.#deps = deps
    this.#batcher = new StatementBatcher({
      send: (siteId, arrivals) => this.#take(siteId, arrivals),
      most: MAX_BATCH,
      // They hold the same rows.
      underWay: 1,
    })
  }

  /** Rejects when it is not known whether it was committed. */
  accept(siteId: string, arrival: InboundMessage): Promise<Decision> {
    return this.#batcher.add(siteId, arrival)
  }

  /**
   * Puts a message into one mailbox that did not come from outside, in the caller's transaction. Gives the one that is there
   * already, where it is the same. Throws the `SmtpReply` of a mailbox without room.
   */
  async file(tx: SiteTx, arrival: InboundMessage, messageId: string): Promise<FiledMessage> {
    const now = this.#deps.clock.now()
    const wanted = newMessages(arrival, () => messageId)
    const [only] = wanted
    if (!only) throw new Error('A message is for no mailbox')
    const decision = (await lockFor(tx, wanted, now)).decide(wanted)
    if ('refusal' in decision) throw decision.refusal
    const { messages } = decision
    if (messages.length === 0) return selectDelivered(tx, only)
    await insertMessages(tx, messages, rememberedUntil(now))
    return { messageId, threadId: messageId }
  }

  /** Most batches need no decision: they take one statement. */
  async #take(siteId: string, arrivals: readonly InboundMessage[]): Promise<readonly Decision[]> {
    const { database, clock, ids, mailParsing } = this.#deps
    const now = clock.now()
    const wanted = arrivals.map((arrival) => newMessages(arrival, () => ids.named('msg')))
    const messages = wanted.flat()
    const parsingSince = mailParsing.queuedSince(now)
    const times = { now, expiresAt: rememberedUntil(now), parsingSince }
    const isPlain =
      !hasDuplicates(messages) && arrivals.every(({ localKey }) => localKey === undefined)
    const isTaken = isPlain && (await insertPlainMessages(database, siteId, messages, times))
    return isTaken ? wanted.map((each) => ({ messages: each })) : this.#decide(siteId, wanted)
  }

  /** Rows of a message, and so of an arrival, are inserted together. */
  async #insert(tx: SiteTx, messages: readonly NewMessage[], now: Date): Promise<void> {
    const isLocal = ({ arrival }: NewMessage): boolean => arrival.localKey !== undefined
    const local = messages.filter(isLocal)
    const others = messages.filter((message) => !isLocal(message))
    if (others.length > 0) await insertMessages(tx, others, rememberedUntil(now))
    const until = new Date(now.getTime() + SAME_LOCAL_MESSAGE_MS)
    if (local.length > 0) await insertMessages(tx, local, until)
  }

  #decide(siteId: string, wanted: readonly (readonly NewMessage[])[]): Promise<Decision[]> {
    const { database, clock, mailParsing, forward } = this.#deps
    const now = clock.now()
    return database.withSite(siteId, async (tx) => {
      const acceptance = await lockFor(tx, wanted.flat(), now)
      const decisions = wanted.map((each) => acceptance.decide(each))
      const messages = decisions.flatMap((decision) =>
        'messages' in decision ? decision.messages : [],
      )
      if (messages.length === 0) return decisions
      await this.#insert(tx, messages, now)
      const forwarded = acceptance.forwarded(messages)
      if (forwarded.length > 0) await forward(tx, forwarded)
      await deleteExpired(tx, 'mail_delivery', now)
      await mailParsing.queueUp(tx)
      return decisions
    })
  }
}

const rememberedUntil = (now: Date): Date => new Date(now.getTime() + SAME_MESSAGE_MS)

async function lockFor(tx: SiteTx, keys: readonly DeliveryKey[], now: Date): Promise<Acceptance> {
  // In this order: the locks come before what they are for.
  const mailboxes = await lockMailboxes(tx, [...new Set(keys.map(({ mailboxId }) => mailboxId))])
  const usage = await lockMailUsage(tx)
  const accepted = await selectDeliveries(tx, keys, now)
  return new Acceptance({ mailboxes, usage, accepted })
}
