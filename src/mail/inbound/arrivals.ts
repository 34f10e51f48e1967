import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'
import type { PlatformServices } from '#platform/services.ts'

import { Acceptance, type Decision, deliveryHash, growthOf } from './acceptance.ts'
import type { Arrival } from './model.ts'
import {
  type DeliveryKey,
  type FiledMessage,
  type NewMessage,
  addUsage,
  holdMailboxes,
  holdUsage,
  insertMessages,
  selectDelivered,
  selectDeliveries,
} from './queries.ts'

/** How long the same bytes are the same message: as long as a server waits before it tries again, and some more. */
const SAME_MESSAGE_MS = 15 * 60_000
const MAX_BATCH = 100

export interface ArrivalsDeps extends Pick<
  PlatformServices,
  'database' | 'queue' | 'clock' | 'ids'
> {
  /** Tells those who watch a mailbox, once this is committed. */
  readonly noteChange: (tx: SiteTx, mailboxId: string) => Promise<void>
  /** Sends on what mailboxes that forward have received. */
  readonly forward: (tx: SiteTx, messages: readonly NewMessage[]) => Promise<void>
}

interface Waiting {
  readonly arrival: Arrival
  readonly settle: PromiseWithResolvers<Decision>
}

/**
 * Makes messages of what has arrived: when `accept` resolves it is committed. A site's arrivals wait for each other's
 * commit anyway, since they count in the same rows: those that come meanwhile share the next one.
 */
export class Arrivals {
  readonly #deps: ArrivalsDeps
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(deps: ArrivalsDeps) {
    this.#deps = deps
  }

  /** Rejects when it is not known whether it was committed. */
  accept(siteId: string, arrival: Arrival): Promise<Decision> {
    const waiting = { arrival, settle: Promise.withResolvers<Decision>() }
    const others = this.#waiting.get(siteId)
    if (others) others.push(waiting)
    else {
      this.#waiting.set(siteId, [waiting])
      void this.#work(siteId)
    }
    return waiting.settle.promise
  }

  /**
   * Puts a message into one mailbox that did not come from outside, in the caller's transaction. Gives the one that is there
   * already, where it is the same. Throws the `SmtpReply` of a mailbox without room.
   */
  async file(tx: SiteTx, arrival: Arrival, messageId: string): Promise<FiledMessage> {
    const { clock, noteChange } = this.#deps
    const now = clock.now()
    const acceptance = await heldFor(tx, [arrival], now)
    const decision = acceptance.decide(arrival, () => messageId)
    if ('refusal' in decision) throw decision.refusal
    const { messages } = decision
    if (messages.length === 0) return selectDelivered(tx, onlyKey(arrival))
    const growth = growthOf(messages)
    await insertMessages(tx, messages, new Date(now.getTime() + SAME_MESSAGE_MS))
    await addUsage(tx, growth)
    for (const { mailboxId } of growth) await noteChange(tx, mailboxId)
    return { messageId, threadId: messageId }
  }

  async #work(siteId: string): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(siteId)?.splice(0, MAX_BATCH) ?? []
      if (batch.length === 0) break
      await this.#settle(siteId, batch)
    }
    this.#waiting.delete(siteId)
  }

  /** A message that Postgres does not take fails alone. */
  async #settle(siteId: string, batch: readonly Waiting[]): Promise<void> {
    try {
      const decisions = await this.#commit(
        siteId,
        batch.map(({ arrival }) => arrival),
      )
      for (const [index, { settle }] of batch.entries()) {
        const decision = decisions[index]
        if (decision) settle.resolve(decision)
      }
    } catch (error) {
      if (batch.length > 1 && isAboutOneRow(error)) {
        for (const each of batch) await this.#settle(siteId, [each])
      } else {
        for (const { settle } of batch) settle.reject(error)
      }
    }
  }

  #commit(siteId: string, arrivals: readonly Arrival[]): Promise<Decision[]> {
    const { database, queue, clock, ids, noteChange, forward } = this.#deps
    const now = clock.now()
    return database.withSite(siteId, async (tx) => {
      const acceptance = await heldFor(tx, arrivals, now)
      const decisions = arrivals.map((arrival) =>
        acceptance.decide(arrival, () => ids.named('msg')),
      )
      const messages = decisions.flatMap((decision) =>
        'messages' in decision ? decision.messages : [],
      )
      if (messages.length === 0) return decisions
      const growth = growthOf(messages)
      await insertMessages(tx, messages, new Date(now.getTime() + SAME_MESSAGE_MS))
      await addUsage(tx, growth)
      const forwarded = acceptance.forwarded(messages)
      if (forwarded.length > 0) await forward(tx, forwarded)
      await deleteExpired(tx, 'mail_delivery', now)
      for (const { mailboxId } of growth) await noteChange(tx, mailboxId)
      await queue.enqueue(tx, 'mail-parse', { siteId }, { singletonKey: siteId })
      return decisions
    })
  }
}

const keysOf = (arrival: Arrival): DeliveryKey[] =>
  arrival.deliveries.map(({ mailboxId, recipient }) => ({
    mailboxId,
    hash: deliveryHash(arrival, recipient),
  }))

function onlyKey(arrival: Arrival): DeliveryKey {
  const [key] = keysOf(arrival)
  if (!key) throw new Error('A message is for no mailbox')
  return key
}

async function heldFor(tx: SiteTx, arrivals: readonly Arrival[], now: Date): Promise<Acceptance> {
  const keys = arrivals.flatMap(keysOf)
  // In this order: the locks come before what they are for.
  const mailboxes = await holdMailboxes(tx, [...new Set(keys.map(({ mailboxId }) => mailboxId))])
  const usage = await holdUsage(tx)
  const accepted = await selectDeliveries(tx, keys, now)
  return new Acceptance({ mailboxes, usage, accepted })
}

/** SQLSTATE classes 22, 23 and 54: data exceptions, integrity, limits of the program. */
const isAboutOneRow = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  /^(?:22|23|54)...$/.test(String(error.code))
