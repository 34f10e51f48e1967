import { createHash } from 'node:crypto'

import { type MailLimits, mailLimits } from '#mail/quotas/limits.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

import type { InboundMessage } from './model.ts'
import type { DeliveryKey, LockedMailbox, LockedMailUsage, NewMessage } from './queries.ts'

/** What becomes of each message of a batch: the messages to insert, or why there are none. */
export type Decision =
  | { readonly messages: readonly NewMessage[] }
  | { readonly refusal: SmtpReply }

export interface LockedState {
  readonly mailboxes: readonly LockedMailbox[]
  readonly usage: LockedMailUsage | undefined
  readonly accepted: readonly DeliveryKey[]
}

interface Room {
  bytes: number
  messages: number
}

/** What it is in each of its mailboxes. */
export const newMessages = (arrival: InboundMessage, newMessageId: () => string): NewMessage[] =>
  arrival.deliveries.map(({ mailboxId, recipient }) => ({
    messageId: newMessageId(),
    mailboxId,
    recipient,
    hash: deliveryHash(arrival, recipient),
    arrival,
  }))

/** Whether a message comes twice among them. */
export const hasDuplicates = (messages: readonly NewMessage[]): boolean =>
  new Set(messages.map(keyText)).size < messages.length

/** The same bytes from the same sender to the same recipient are the same message. */
function deliveryHash(arrival: InboundMessage, recipient: string): Buffer {
  const { localKey, sha256, sender, envelopeTo = [] } = arrival
  const hash = createHash('sha256')
  if (localKey === undefined) hash.update(sha256)
  const parts =
    localKey === undefined ? [sender, recipient, ...envelopeTo] : ['local', localKey, recipient]
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`)
  return hash.digest()
}

/**
 * Decides about messages one after the other, in the order in which they came: each has room in all its mailboxes, or goes
 * into none. A mailbox that was disabled or filled up since it was asked for is named at the next try.
 */
export class Acceptance {
  readonly #mailboxes: ReadonlyMap<string, LockedMailbox>
  readonly #rooms: ReadonlyMap<string, Room>
  readonly #siteRoom: Room
  readonly #accepted: Set<string>

  constructor({ mailboxes, usage, accepted }: LockedState) {
    this.#mailboxes = new Map(mailboxes.map((mailbox) => [mailbox.mailboxId, mailbox]))
    this.#rooms = new Map(mailboxes.map((mailbox) => [mailbox.mailboxId, roomOf(mailbox)]))
    this.#siteRoom = siteRoom(usage)
    this.#accepted = new Set(accepted.map(keyText))
  }

  /** `wanted` is the message in each of its mailboxes. */
  decide(wanted: readonly NewMessage[]): Decision {
    const messages = wanted.filter((message) => !this.#accepted.has(keyText(message)))
    const refusal = this.#refusal(messages)
    if (refusal) return { refusal }
    for (const message of messages) this.#take(message)
    return { messages }
  }

  /** Those of them whose mailbox forwards what it receives. */
  forwarded(messages: readonly NewMessage[]): readonly NewMessage[] {
    return messages.filter(({ mailboxId }) => this.#mailboxes.get(mailboxId)?.isForwarding === true)
  }

  #refusal(wanted: readonly NewMessage[]): SmtpReply | undefined {
    for (const { mailboxId } of wanted) {
      if (this.#mailboxes.get(mailboxId)?.status !== 'ACTIVE') {
        return new SmtpReply(451, '4.2.1', 'A mailbox has been closed: try again')
      }
    }
    const sizeBytes = wanted[0]?.arrival.sizeBytes ?? 0
    const needed = { bytes: sizeBytes * wanted.length, messages: wanted.length }
    const rooms = wanted.flatMap(({ mailboxId }) => this.#rooms.get(mailboxId) ?? [])
    const own = { bytes: sizeBytes, messages: 1 }
    return rooms.every((room) => fits(own, room)) && fits(needed, this.#siteRoom)
      ? undefined
      : mailboxFull()
  }

  #take(message: NewMessage): void {
    this.#accepted.add(keyText(message))
    const { sizeBytes } = message.arrival
    for (const room of [this.#siteRoom, this.#rooms.get(message.mailboxId)]) {
      if (!room) continue
      room.bytes -= sizeBytes
      room.messages -= 1
    }
  }
}

export const mailboxFull = (): SmtpReply =>
  new SmtpReply(452, '4.2.2', 'The mailbox is full: try again later')

const keyText = ({ mailboxId, hash }: DeliveryKey): string =>
  `${mailboxId} ${hash.toString('base64')}`

const fits = (needed: Room, room: Room): boolean =>
  needed.bytes <= room.bytes && needed.messages <= room.messages

const roomOf = (mailbox: LockedMailbox): Room => ({
  bytes: left(mailbox.quotaBytes, mailbox.usedBytes),
  messages: left(mailbox.quotaMessages, mailbox.usedMessages),
})

const left = (quota: string | null, used: string): number =>
  quota === null ? Infinity : Number(quota) - Number(used)

function siteRoom(usage: LockedMailUsage | undefined): Room {
  if (!usage) return { bytes: 0, messages: 0 }
  const { mailBytes, mailMessages }: MailLimits = mailLimits(usage.deploymentSettings)
  return {
    bytes: mailBytes - Number(usage.usedBytes),
    messages: mailMessages - Number(usage.usedMessages),
  }
}
